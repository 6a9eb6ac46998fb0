import { z } from 'zod'
import { type AuditResult, audit } from '../loop/audit.ts'
import { pauseAt, pauseInWords } from '../loop/pause.ts'
import { statusOf } from '../report/status.ts'
import { type Verdict, verdictOn } from '../report/verdict.ts'
import { type Deed, type Means, NotPossible } from './deed.ts'

interface AuditDone {
  /** Null: nothing is recorded yet that could be compared. */
  result: AuditResult | null
  verdict: Verdict
}

export const auditDeed: Deed<{ repair: boolean }, AuditDone> = {
  request: z.strictObject({ repair: z.boolean() }),
  needsHost: true,
  async carryOut(means, { repair }) {
    const { config, synced } = means
    if (synced.audit.albums().length === 0) return { result: null, verdict: 'left' }
    const paused = repair ? pauseAt(synced, Date.now()) : null
    if (paused) throw new NotPossible(`nothing can be repaired: ${pauseInWords(paused)}`, 'PAUSED')
    for (;;) {
      const { result, gaveWay } = await oneStretch(means, repair)
      if (gaveWay && !result.finished && result.stopped.length === 0) {
        await means.giveWay()
        continue
      }
      const verdict = repair
        ? verdictOn(statusOf(config, synced, true, Date.now()), result.stopped)
        : 'in_sync'
      return { result, verdict }
    }
  },
}

/** As much of it as there is time for: between two albums it can be left, and the next stretch goes on there. */
async function oneStretch(means: Means, repair: boolean): Promise<{ result: AuditResult; gaveWay: boolean }> {
  const { config, interruption, hearing } = means
  const leave = new AbortController()
  const mirroring = { parts: means.engine().parts, pass: () => means.pass() }
  // Only the walk is left: once it is finished, what is to be repaired goes on to its end.
  const stop = AbortSignal.any([interruption.stop, leave.signal])
  let looked = 0
  const progress = (done: number, albums: number) => {
    hearing.progress(done, albums)
    // One album at least each time, or those who change their pictures all day would never see its end.
    if (looked++ > 0 && means.othersWait()) leave.abort()
  }
  const result = await audit(config, mirroring, repair, { ...interruption, stop }, progress)
  return { result, gaveWay: leave.signal.aborted && !interruption.stop.aborted }
}
