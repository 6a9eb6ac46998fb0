import type { Config } from '../config/schema.ts'
import type { Access, Mirroring } from '../daemon/mirroring.ts'
import type { State } from '../daemon/state.ts'
import type { HostFailure } from '../remote/host.ts'
import { refuseMissingFolders } from './config-option.ts'
import { EXIT } from './exit-codes.ts'
import { onInterrupts } from './interrupts.ts'
import { barProgress, lineProgress, noProgress, type Progress } from './progress.ts'
import { Tally } from './tally.ts'
import { printable } from './wording.ts'

export interface OnePassOptions {
  json: boolean
  /** Whether the work itself compares what was linked. */
  verifies?: boolean
  /** What is done with the state before the pass. */
  before?: (state: State) => Promise<void>
  /** The work itself, where it is not a plain pass. Answers what the host said that ended it early. */
  work?: (mirroring: Mirroring, interrupts: ReturnType<typeof onInterrupts>) => Promise<HostFailure[]>
}

/** One pass over all mirrors, with progress and a summary. Answers the exit code. */
export async function onePass(config: Config, access: Access, options: OnePassOptions): Promise<number> {
  const { json, verifies = false, before, work = plainPass } = options
  refuseMissingFolders(config)
  const { openState } = await import('../daemon/state.ts')
  const { openMirroring } = await import('../daemon/mirroring.ts')
  const { statusOf } = await import('../daemon/status.ts')
  const { verdictOn } = await import('../daemon/verdict.ts')
  const state = await openState(config, line => void process.stderr.write(`albumd: ${line}\n`))
  const progress = chooseProgress(json)
  const interrupts = onInterrupts(() => progress.say('stopping'))
  const done = new Tally()
  try {
    await before?.(state)
    const temper = { patience: { attempts: 4, maxDelayMs: 2000 }, graceMs: 0 }
    const mirroring = openMirroring(config, access, state, temper, told => {
      done.add(told)
      // Why it stopped is said once, at the end.
      if (told.event !== 'uploads_stopped') progress.tell(told)
    })
    let stopped: HostFailure[]
    try {
      const [refusal, ended] = await Promise.all([
        mirroring.greet(interrupts.cut),
        work(mirroring, interrupts),
      ])
      stopped = distinct([...(refusal ? [refusal] : []), ...ended])
    } finally {
      progress.end()
      await mirroring.close()
    }
    const status = statusOf(config, state.synced, true, Date.now())
    const exitCode = { in_sync: EXIT.inSync, left: EXIT.left, refused: EXIT.refused }[
      verdictOn(status, stopped)
    ]
    const summary = { exit_code: exitCode, ...done.counts, stopped, mirrors: status.mirrors }
    if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
    else {
      const links = verifies ? null : done.linksInWords()
      report([...(links ? [links] : []), done.inWords(status, stopped)], stopped)
    }
    return exitCode
  } catch (error) {
    throw state.failed(error)
  } finally {
    interrupts.dispose()
    state.close()
  }
}

const plainPass: NonNullable<OnePassOptions['work']> = async (mirroring, interrupts) =>
  (await mirroring.pass(interrupts)).stopped

function report(summary: readonly string[], stopped: readonly HostFailure[]): void {
  process.stdout.write(`${summary.join('\n')}\n`)
  for (const { code, message, remedy } of stopped)
    process.stderr.write(`albumd: ${printable(message)} (${code})${remedy === 'key' ? KEY_REMEDY : ''}\n`)
}

export const KEY_REMEDY =
  '; check the key: host.api_key_file, $ALBUMD_API_KEY or the systemd credential "api-key"'

function chooseProgress(json: boolean): Progress {
  if (json) return noProgress
  return process.stdout.isTTY ? barProgress(process.stdout) : lineProgress(process.stdout)
}

function distinct(failures: HostFailure[]): HostFailure[] {
  return [...new Map(failures.map(failure => [`${failure.code} ${failure.endpoint}`, failure])).values()]
}
