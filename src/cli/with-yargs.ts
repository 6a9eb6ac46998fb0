import yargs, { type CommandModule } from 'yargs'
import { likelyKey } from '../config/config-error.ts'
import { version } from '../daemon/package.ts'
import { printable } from '../words/text.ts'
import { COMMANDS, type Command } from './commands.ts'
import { type LogLevelArgs, logLevelOption, yargsModule } from './options.ts'
import { Problem } from './problem.ts'

/** Runs a command line that is not plain. `told`: called with the arguments before the work. Returns the command's name. */
export async function runWithYargs(
  args: readonly string[],
  told: (parsed: Record<string, unknown>) => void,
): Promise<string | undefined> {
  // The words of a completion are left without MARK, because the last word is still being typed and may be two dashes.
  const words = args[0] === '--get-yargs-completions' ? [...args] : markOperands(args)
  const command = yargs()
    .scriptName('albumd')
    .usage('$0 <command>\n\nKeeps a folder of pictures and an image host the same.')
    .parserConfiguration({ 'camel-case-expansion': false })
    .options(logLevelOption)
    .middleware(unmarkOperands, true)
    .middleware(parsed => refuseMisgiven(words, parsed), true)
    .middleware(told, true)
    .demandCommand(1, 'Name a command.')
    .strict()
    .version(version)
    .help()
    .alias('help', 'h')
    .exitProcess(false)
    .fail((message, error) => {
      // When an option has no value, yargs throws a YError, which is a mistake of usage.
      if (error && error.name !== 'YError') throw error
      throw usageProblem(message ?? error.message, args, namedIn(inner))
    })
  const inner = command as unknown as Inner
  for (const each of COMMANDS) command.command(await moduleOf(each, args))
  // Without this, yargs would prepare the command's whole help during its work, for a failure. No failure here shows it.
  inner.getInternalMethods().getUsageInstance().cacheHelpMessage = () => {}
  // Of a completion, yargs offers the alias -c behind two dashes too, as --c.
  const logger = inner.getInternalMethods().getLoggerInstance()
  const { log } = logger
  logger.log = line => /^--\w(?::|$)/.test(line) || log(line)
  const { _: named } = await command.parseAsync(words)
  return named[0]?.toString()
}

interface Named {
  commands: readonly string[]
  options: readonly string[]
}

/** yargs has these methods for completions and for itself, and its types do not declare them. */
interface Inner {
  getOptions(): { key: Record<string, unknown> }
  getInternalMethods(): {
    getContext(): { commands: string[] }
    getLoggerInstance(): { log(line: string): void }
    getUsageInstance(): { cacheHelpMessage(): void }
  }
}

function namedIn(inner: Inner): Named {
  const { commands } = inner.getInternalMethods().getContext()
  return { commands: [...commands], options: Object.keys(inner.getOptions().key) }
}

/** The yargs module of a command. The command's code is loaded only when the command's name is among the arguments. */
async function moduleOf(command: Command, args: readonly string[]): Promise<CommandModule<LogLevelArgs>> {
  if (args.includes(command.name)) return yargsModule(command, await command.load())
  return { command: command.command, describe: command.describe, handler() {} }
}

/** Begins a marked operand. No argument of a process can contain this character. */
const MARK = '\0'

/** Begins with MARK each word that yargs would drop: a lone dash, and those after `--`, which is removed. Dropped,
 * "deletions approve -- -x.png" would approve everything, and "sync -" would sync it. */
export function markOperands(args: readonly string[]): string[] {
  const dashes = args.includes('--') ? args.indexOf('--') : args.length
  return args.flatMap((word, at) => {
    if (at === dashes) return []
    return at > dashes || word === '-' ? MARK + word : word
  })
}

export function unmarkOperands(parsed: Record<string, unknown>): void {
  const unmark = (value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : value
  for (const [name, value] of Object.entries(parsed))
    parsed[name] = Array.isArray(value) ? value.map(unmark) : unmark(value)
}

const LISTS: ReadonlySet<string> = new Set(['folder', 'album', 'api-key', 'files', 'paths'])

/** Refuses two mistakes that yargs accepts. An option that is given twice becomes a list. A switch with a value counts as
 * off: "--dry-run=yes" would be a real sync. `parsed`: what yargs made of `words`. */
function refuseMisgiven(words: readonly string[], parsed: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(parsed))
    if (Array.isArray(value) && /^[a-z][a-z-]+$/.test(name) && !LISTS.has(name))
      throw new Problem(`--${name} is given more than once. Give it once`)
  for (const word of words) {
    const [, name = '', value = ''] = /^--([a-z-]+)=(.*)$/s.exec(word) ?? []
    if (typeof parsed[name] === 'boolean' && !['true', 'false'].includes(value))
      throw new Problem(`--${name}=${value} takes no value. Use --${name}`)
  }
}

export function usageProblem(
  message: string,
  args: readonly string[],
  { commands, options }: Named,
): Problem {
  const line = printable(inWords(message, args, options).replace(/\s*\n\s*/g, ' '))
  const end = /[.?]$/.test(line) ? '' : '.'
  return new Problem(`${line}${end} See ${['albumd', ...commands, '--help'].join(' ')}.`)
}

function inWords(message: string, args: readonly string[], options: readonly string[]): string {
  const [first = ''] = args
  const names = COMMANDS.map(({ name }) => name)
  if (first !== '' && !first.startsWith('-') && !names.includes(first))
    return first === 'accept'
      ? 'There is no command accept any more: leave a file out by a line in ignore or .albumdignore'
      : `There is no command ${first}${didYouMean(likelyKey(first, names))}`
  const command = COMMANDS.find(({ name }) => name === first)
  if (command && message.startsWith('Not enough non-option arguments'))
    return `Usage: albumd ${command.command}`
  const [, unknown = ''] = /^Unknown argument: (\S+)$/.exec(message) ?? []
  const likely = likelyKey(unknown, options)
  return `${message}${didYouMean(likely && `--${likely}`)}`
}

function didYouMean(likely: string | null): string {
  return likely === null ? '' : `; did you mean ${likely}?`
}
