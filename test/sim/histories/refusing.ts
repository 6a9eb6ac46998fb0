import { drawBroad } from './broad.ts'
import { type Action, byTime, type History } from './history.ts'
import { Random } from './random.ts'

/** A broad history in which the host refuses all for some passes, or to the end, or keeps credentials for less time than it
 * promises. */
export function drawRefusing(seed: number): History {
  const random = new Random(seed, 21)
  const drawn = drawBroad(seed)
  const variations = { ...drawn.variations, keeps: random.pick([null, 0.9, 0.95]) }
  const closing = drawClosing(random, drawn.pauses.length)
  return { ...drawn, variations, actions: [...drawn.actions, ...closing].sort(byTime) }
}

/** Pictures come before the host refuses all, and meanwhile. */
function drawClosing(random: Random, passes: number): Action[] {
  const closed = random.below(passes)
  const act = (pass: number, kind: Action['kind']): Action => {
    const step = random.chance(0.5) ? 0 : 1 + random.below(60)
    return { pass: pass % passes, step, kind, a: random.next(), b: random.next() }
  }
  const added = Array.from({ length: random.below(4) }, () => act(closed + random.below(2), 'add'))
  return [
    ...(random.chance(0.3) ? [act(closed, 'fillFolder')] : []),
    ...(random.chance(0.8) ? [act(closed, 'hostCloses')] : []),
    ...(closed + 1 < passes ? [act(closed + 1 + random.below(passes - closed - 1), 'hostOpens')] : []),
    ...added,
  ]
}
