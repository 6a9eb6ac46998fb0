import { type Action, byTime, drawHistory, type History } from './history.ts'
import { ALL_KEPT } from './kept-histories.ts'
import { Random } from './random.ts'
import { DELETIONS } from './seldom/deletions.ts'
import { DISKS } from './seldom/disks.ts'
import { LOSSES } from './seldom/losses.ts'
import { UPLOADS } from './seldom/uploads.ts'

/** Histories that bring about what chance draws seldom (`reach/states.ts`). */
export const SELDOM: readonly History[] = [...UPLOADS, ...LOSSES, ...DELETIONS, ...DISKS]

/** Other kept histories of states that no seldom one brings about. */
const OTHERS = [1, 2, 3, 4, 7, 16, 30, 32, 33, 101, 103, 105, 112]
/** Those that alone bring a state about. */
const ALONE = [
  ...[1, 2, 30, 105, 112, 201, 203, 204, 206, 209, 210, 212, 214, 215, 216, 218, 219, 220, 223, 224, 225],
  ...[226, 227, 228, 230, 232, 236, 239, 240, 245, 246, 247],
]

const areAmong = (numbers: readonly number[]) =>
  [...ALL_KEPT, ...SELDOM].filter(({ seed }) => numbers.includes(seed - 1_000_000_000))

/** What broad histories mostly begin as. Those that alone bring a state about come twice as often. */
const OFTEN: readonly History[] = [...SELDOM, ...areAmong(OTHERS), ...areAmong(ALONE)]

export function keptHistory(seed: number): History | undefined {
  return [...ALL_KEPT, ...SELDOM].find(history => history.seed === seed)
}

/** A kept history with other latencies, mostly at the same steps, and often with more that happens. */
export function drawBroad(seed: number): History {
  const random = new Random(seed, 11)
  const drawn = drawHistory(seed)
  if (random.chance(0.1)) return drawn
  const kept = random.pick(random.chance(0.85) ? OFTEN : ALL_KEPT)
  const passes = kept.pauses.length
  const shifted = ({ step, ...action }: Action) => ({ ...action, step: step && 1 + random.below(2 * step) })
  const more = drawn.actions.slice(0, 3).map(action => ({ ...action, pass: action.pass % passes }))
  return {
    ...kept,
    seed,
    concurrency: random.pick([kept.concurrency, kept.concurrency, 2, 4]),
    actions: [
      ...(random.chance(0.2) ? kept.actions.map(shifted) : kept.actions),
      ...(random.chance(0.3) ? more : []),
    ].sort(byTime),
  }
}
