import { MINUTE_MS, type Millis } from '../protocol/clock.ts'
import type { Records, Tx } from '../synced/synced.ts'
import type { ClockSpan } from '../synced/tables/meta.ts'

/* A wall clock that is set back shows some times twice. So versions have times of a clock that never goes back, the ledger time.
 * It is the wall clock's time, but runs ahead of it from when the wall clock is set back until it is set right. */

/** A clock that is only kept right is moved back by no more than this. */
const KEPT_RIGHT_MS = 1000
/** For so long after its last commit, a span counts as going on: the clock ran on without a commit. */
const IDLE_MS = MINUTE_MS
/** The most spans that are kept. A machine whose clock stops while it is off adds two with each start. */
const SPANS = 100

export function ledgerNow({ meta, versions, images }: Tx, wall: Millis): Millis {
  const last = meta.get('ledger_time') ?? 0
  const first = () => Math.min(wall, versions.oldest() ?? wall, images.oldest() ?? wall)
  const spans = meta.get('clock_spans') ?? [{ from: first(), to: null, ahead: 0 }]
  const span = spans.at(-1)!
  const now = wall + span.ahead
  // More than half of what the clock had been set back has passed at once, so the clock was set right.
  const isSet = now < last - KEPT_RIGHT_MS || (span.ahead > 0 && now - last > span.ahead / 2)
  const at = isSet ? Math.max(wall, last + 1) : Math.max(now, last)
  if (isSet) {
    const next = [...spans.with(-1, { ...span, to: last }), { from: at, to: null, ahead: at - wall }]
    meta.set('clock_spans', next.slice(-SPANS))
  } else if (last === 0) meta.set('clock_spans', spans)
  if (at > last) meta.set('ledger_time', at)
  return at
}

/** The ledger time at which the wall clock last showed `wall`. For a time that it never showed, the last ledger time before. */
export function ledgerTime({ meta }: Pick<Records, 'meta'>, wall: Millis): Millis {
  const known = meta.get('clock_spans')
  if (!known) return wall
  const idle = ({ to, ahead }: ClockSpan) => wall + ahead - (to ?? Number.POSITIVE_INFINITY)
  const shown = known.findLast(span => wall + span.ahead >= span.from && idle(span) <= IDLE_MS)
  if (shown) return Math.min(wall + shown.ahead, shown.to ?? Number.POSITIVE_INFINITY)
  const [before] = known.filter(span => idle(span) > 0).sort((one, other) => idle(one) - idle(other))
  return before?.to ?? 0
}

export function wallTime({ meta }: Pick<Records, 'meta'>, at: Millis): Millis {
  return at - (meta.get('clock_spans')?.findLast(({ from }) => from <= at)?.ahead ?? 0)
}
