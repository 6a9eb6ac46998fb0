import { z } from 'zod'
import { type AuditResult, audit } from '../loop/audit.ts'
import { pauseAt, pauseInWords } from '../loop/pause.ts'
import { statusOf } from '../report/status.ts'
import { type Verdict, verdictOn } from '../report/verdict.ts'
import { type Command, type CommandContext, NotPossible } from './command.ts'

interface AuditDone {
  /** Null: no album is recorded that could be compared. */
  result: AuditResult | null
  verdict: Verdict
}

export const auditCommand: Command<{ repair: boolean }, AuditDone> = {
  request: z.strictObject({ repair: z.boolean() }),
  needsHost: true,
  async carryOut(context, { repair }) {
    const { config, synced } = context
    if (synced.audit.albums().length === 0) return { result: null, verdict: 'left' }
    const paused = repair ? pauseAt(synced, Date.now()) : null
    if (paused) throw new NotPossible(`nothing can be repaired: ${pauseInWords(paused)}`, 'PAUSED')
    for (;;) {
      const { result, gaveWay } = await oneStretch(context, repair)
      if (gaveWay && !result.finished && result.stopped.length === 0) {
        await context.giveWay()
        continue
      }
      const verdict = repair
        ? verdictOn(statusOf(config, synced, true, Date.now()), result.stopped)
        : 'in_sync'
      return { result, verdict }
    }
  },
}

/** Audits until something else waits. It ends between two albums, and the next stretch goes on there. */
async function oneStretch(
  context: CommandContext,
  repair: boolean,
): Promise<{ result: AuditResult; gaveWay: boolean }> {
  const { config, interruption, output } = context
  const leave = new AbortController()
  const mirroring = { parts: context.engine().parts, pass: () => context.pass() }
  // Only the walk ends early. Once it is finished, all repairs are made.
  const stop = AbortSignal.any([interruption.stop, leave.signal])
  let looked = 0
  const progress = (done: number, albums: number) => {
    output.progress(done, albums)
    // At least one album each time, or an audit would never end while pictures change all day.
    if (looked++ > 0 && context.othersWait()) leave.abort()
  }
  const result = await audit(config, mirroring, repair, { ...interruption, stop }, progress)
  return { result, gaveWay: leave.signal.aborted && !interruption.stop.aborted }
}
