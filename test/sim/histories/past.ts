import { type Action, type ActionKind, byTime, type History } from './history.ts'
import { at, atStep, THREE, TWO_MIRRORS } from './parts.ts'
import { Random } from './random.ts'

/** What changes pictures, folders and the clock, and leaves nothing in doubt. */
const KINDS: readonly ActionKind[] = [
  ...(['add', 'add', 'change', 'change', 'changeInPlace', 'rename', 'rename', 'remove', 'remove'] as const),
  ...(['removeMany', 'undelete', 'undelete', 'swapFolders', 'renameFolder', 'restoreOld'] as const),
  ...(['copyTo', 'copyTo', 'clockJump', 'wait'] as const),
]

/** So many moments has each. */
const PASSES = 6

/** A quiet history of two mirrors, for what `restore --at` brings back. */
export function drawPast(seed: number): History {
  const random = new Random(seed, 21)
  const draw = (pass: number): Action => {
    const kind = random.pick(KINDS)
    const [a, b] = [random.next(), random.next()]
    return random.chance(0.8) ? at(pass, kind, a, b) : atStep(pass, 1 + random.below(40), kind, a, b)
  }
  const actions = Array.from({ length: PASSES }, (_, pass) =>
    Array.from({ length: pass === 0 ? 1 : 1 + random.below(4) }, () => draw(pass)),
  )
  return {
    ...THREE,
    seed,
    ticks: true,
    mirrors: TWO_MIRRORS.map(mirror => ({ ...mirror, deletions: random.chance(0.2) ? 'keep' : 'propagate' })),
    files: Array.from({ length: 3 + random.below(8) }, () => [random.next(), random.next()] as const).map(
      ([a, b]) => [a, b],
    ),
    hold: { hold_above: 1, hold_min: 1000 },
    graceMs: random.pick([0, 60_000, 600_000, 3_600_000]),
    concurrency: random.pick([1, 4]),
    pauses: Array.from({ length: PASSES }, () => random.pick([5000, 61_000, 700_000, 5_000_000])),
    actions: actions.flat().sort(byTime),
  }
}
