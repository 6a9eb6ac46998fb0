import { setImmediate as turn } from 'node:timers/promises'
import { COMMANDS } from './commands.ts'
import { plainArguments } from './plain-line.ts'
import { describeError, EXIT, Problem } from './problem.ts'
import { fitted } from './terminal/fitted.ts'
import { printJson } from './terminal/output.ts'

export async function main(args: readonly string[]): Promise<void> {
  let showStacks = false
  const unwritten = onLostOutput()
  try {
    const name = await run(wordsAsOptions(args), parsed => {
      showStacks = parsed['log-level'] === 'debug'
    })
    // `unwritten` is asked one turn later, because a stream emits an error only in the turn after the write.
    await turn()
    const lost = unwritten()
    // A lost line does not fail `run`, which writes only the log.
    if (lost && !process.exitCode && name !== 'run')
      throw new Problem(`The output could not be written (${lost}). Make room`, EXIT.unexpected)
  } catch (error) {
    const { exitCode, code, lines, beside } = describeError(error)
    if (args.includes('--json')) printJson({ error: { code, message: lines, ...beside } })
    for (const line of lines.split('\n'))
      process.stderr.write(`${fitted(`albumd: ${line}`, process.stderr.columns)}\n`)
    if (showStacks && error instanceof Error) process.stderr.write(`${error.stack}\n`)
    process.exitCode = exitCode
  }
}

/** Reads "help sync" as "sync --help", "version" as "--version", and nothing as "--help", because people type all three. */
function wordsAsOptions(args: readonly string[]): readonly string[] {
  const [first = 'help', ...others] = args
  if (first === 'help') return [...others, '--help']
  return first === 'version' && others.length === 0 ? ['--version'] : args
}

type Told = (parsed: Record<string, unknown>) => void

/** Returns the command's name; undefined when none was named. `told`: called with the arguments before the work. */
export async function run(args: readonly string[], told: Told): Promise<string | undefined> {
  const command = COMMANDS.find(({ name }) => name === args[0])
  if (command) {
    const code = await command.load()
    const plain = plainArguments(command, code, args.slice(1))
    if (plain) {
      told(plain)
      await code.handler(plain)
      return command.name
    }
  }
  const { runWithYargs } = await import('./with-yargs.ts')
  return runWithYargs(args, told)
}

const NOBODY_READS: ReadonlySet<unknown> = new Set(['EPIPE', 'EIO'])

/** Lets work go on when output can't be written. Returns a function that returns why output was lost. Null: none was lost, or
 * nobody reads it. */
function onLostOutput(): () => string | null {
  let lost: string | null = null
  for (const out of [process.stdout, process.stderr])
    out.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (!NOBODY_READS.has(code)) lost ??= code ?? message
    })
  return () => lost
}
