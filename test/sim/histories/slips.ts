import { type Action, byTime, drawHistory, type History } from './history.ts'
import { Random } from './random.ts'
import { isBroad } from './seeds.ts'

/** Among the broad histories, those in which a person's hand slips. */
export function isSlip(seed: number): boolean {
  return isBroad(seed) && seed % 11 === 7
}

/** A slip, below every hold: an older copy is put back with `rsync --delete`, a branch is checked out, or pictures go one by
 * one. Then the daemon goes on, or `sync` runs now and then, and perhaps somebody notices in time. */
export function drawSlip(seed: number): History {
  const random = new Random(seed, 15)
  const drawn = drawHistory(seed)
  const act = (pass: number, kind: Action['kind']): Action => {
    const step = random.chance(0.7) ? 0 : 1 + random.below(60)
    return { pass, step, kind, a: random.next(), b: random.next() }
  }
  const trickles = random.chance(0.4)
  const slips = Array.from({ length: trickles ? 4 : 1 }, (_, at) =>
    act(1 + at, trickles ? 'remove' : 'removeSome'),
  )
  const passes = slips.length + 3
  const notices = random.pick(['undelete', 'discardMany', 'approveMany', 'wait'] as const)
  const others = random.chance(0.4) ? drawn.actions.slice(0, 3) : []
  const graceMs = random.pick([0, 60_000, 600_000])
  const syncs = seed % 3 === 2
  return {
    ...drawn,
    hold: { hold_above: 0.25, hold_min: 20 },
    ...(syncs ? { graceMs: 0, syncs } : { graceMs }),
    graceManyMs: random.pick([3_600_000, 86_400_000]),
    pauses: Array.from({ length: passes }, () => random.pick([1000, 60_000, 660_000, 3_700_000])),
    actions: [
      act(0, 'fillFolder'),
      ...slips,
      act(slips.length + 1, notices),
      ...others.map(action => ({ ...action, pass: action.pass % passes })),
    ].sort(byTime),
  }
}
