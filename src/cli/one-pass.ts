import { KEY_REMEDY } from '../config/host-access.ts'
import type { Config } from '../config/schema.ts'
import type { CommandName, RequestOf, ResultOf } from '../daemon/commands/all.ts'
import type { PassResult } from '../daemon/commands/sync.ts'
import { pauseInWords } from '../daemon/state/pause.ts'
import type { HostFailure } from '../remote/host.ts'
import type { SpokenEvent } from '../sync/pass-events.ts'
import { inWords } from '../words/reasons.ts'
import { carryOut, sayAside } from './carry-out.ts'
import { pauseInJson } from './commands/pause.ts'
import { EXIT } from './exit-codes.ts'
import type { OnInterrupts } from './terminal/interrupts.ts'
import { noProgress, progressOn } from './terminal/progress.ts'
import { ALL_IN_SYNC, Tally } from './terminal/tally.ts'
import { failureInWords, printable } from './words/wording.ts'

/** The names of commands that run a pass. */
type PassName = { [N in CommandName]: ResultOf<N> extends PassResult ? N : never }[CommandName]

export interface OnePassOptions<Result> {
  json: boolean
  onInterrupts: OnInterrupts
  /** For a command that compares links: how many links it could not compare. */
  notCompared?: ((result: Result) => number) | undefined
}

/** Runs one pass over all mirrors, with progress and a summary. */
export async function onePass<N extends PassName>(
  config: Config,
  name: N,
  request: RequestOf<N>,
  { json, onInterrupts, notCompared }: OnePassOptions<ResultOf<N>>,
): Promise<{ exitCode: number; result: ResultOf<N> }> {
  const { refuseMissingFolders } = await import('./read-config.ts')
  refuseMissingFolders(config)
  const progress = json ? noProgress : await progressOn(process.stdout)
  const interrupts = onInterrupts(() => progress.say('stopping'))
  const done = new Tally()
  const output = {
    tell(told: SpokenEvent) {
      done.add(told)
      // Why the pass stopped is told once, at the end.
      if (told.event !== 'uploads_stopped') progress.tell(told)
    },
    say: sayAside,
    progress() {},
  }
  try {
    const result: ResultOf<N> & PassResult = await carryOut(config, name, request, output, interrupts)
    progress.end()
    const links = notCompared?.(result) ?? null
    const exitCode = links ? Math.max(exitCodeOf(result), EXIT.left) : exitCodeOf(result)
    if (json) process.stdout.write(`${JSON.stringify(inJson(exitCode, done, result))}\n`)
    else report(done, links, result)
    return { exitCode, result }
  } finally {
    progress.end()
  }
}

function exitCodeOf({ verdict, paused }: PassResult): number {
  return paused ? EXIT.left : { in_sync: EXIT.inSync, left: EXIT.left, refused: EXIT.refused }[verdict]
}

function inJson(exit_code: number, { counts }: Tally, { stopped, mirrors, paused }: PassResult): object {
  return {
    exit_code,
    ...counts,
    stopped: stopped.map(failureInWords),
    mirrors,
    ...(paused && { paused: pauseInJson(paused) }),
  }
}

/** `notCompared`: null when the command compares no links. */
function report(done: Tally, notCompared: number | null, result: PassResult): void {
  const { stopped, paused } = result
  const links = notCompared === null ? done.linksInWords() : null
  const words = done.inWords(result, stopped, notCompared ?? 0)
  // A paused pass has not scanned, so its counts say nothing.
  const said = paused ? [pauseInWords(paused), ...(words === ALL_IN_SYNC ? [] : [words])] : [words]
  const summary = [...(links ? [links] : []), ...said]
  process.stdout.write(`${summary.join('\n')}\n`)
  sayWhatStopped(stopped)
}

/** What a person can do about a failure that does not pass by itself. */
const afterwards: { [remedy in HostFailure['remedy']]?: string } = {
  key: `; ${KEY_REMEDY}`,
  plan: '; "albumd doctor" says what the plan allows; with a larger one albumd goes on by itself',
}

/** The same answer about two endpoints is told once. */
function sayWhatStopped(stopped: readonly HostFailure[]): void {
  const lines = stopped.map(
    ({ code, message, remedy }) =>
      `albumd: ${printable(inWords(message))} (${code})${afterwards[remedy] ?? ''}\n`,
  )
  for (const line of new Set(lines)) process.stderr.write(line)
}
