import type { Action, History } from '../histories/history.ts'
import { drawHistory } from '../histories/history.ts'
import { at, THREE } from '../histories/parts.ts'
import { Random } from '../histories/random.ts'
import { GROWING } from '../histories/seeds.ts'
import { PLAIN_SETTING } from '../histories/setting.ts'
import { PLAIN } from '../histories/variations.ts'
import { STORE_FAULTS, type StoreFault } from './virtual-store.ts'

/** The store goes wrong for a while. Milliseconds from the beginning. */
interface StoreTrouble {
  at: number
  forMs: number
  kind: StoreFault
  machine: 'albumd' | 'second'
}

/** Two machines with one account. */
export interface MachinesHistory {
  seed: number
  machines: readonly [History, History]
  /** By how much the second machine's clock is wrong. */
  clockOffset: number
  troubles: readonly StoreTrouble[]
  /** Before this pass a person takes the album for the second machine; null: nobody does. */
  takenAt: number | null
  /** The second machine was copied from the first, so the store takes both for one. */
  isCopy?: true
}

/** What two machines do to each other needs no more than this of people and hosts. */
const USUAL: ReadonlySet<Action['kind']> = new Set<Action['kind']>([
  'add',
  'change',
  'rename',
  'remove',
  'removeMany',
  'removeFolder',
  'undelete',
  'renameFolder',
  'copyTo',
  'lookAlike',
  'ignore',
  'unignore',
  'clockJump',
  'reboot',
  'kill',
  'end',
  'loseState',
  'fault',
  'otherUploads',
  'approve',
  'audit',
  'auditRepair',
  'wait',
])

/** Each with what both need, and with what both want. */
const ALBUMS: readonly (readonly [string, string])[] = [
  ['Family/Ann', 'Family/Ben'],
  ['Family/Ann', 'Family/Ben'],
  ['F/G/Ann', 'F/Ben'],
  ['Photos', 'Photos'],
  ['Photos/a', 'Photos'],
]

const ONE_ALBUM = ['Photos', 'Photos'] as const

export function drawMachines(seed: number): MachinesHistory {
  const random = new Random(seed, 21)
  // Some have the same pictures.
  const isTwin = seed % 4 === 0
  const [one, other] = [0, isTwin ? 0 : 1].map(machine => drawHistory(GROWING + 2 * seed + machine))
  const more = new Random(seed, 23)
  const isCopy = seed % 7 === 2
  const handed = seed % 13 === 3 ? new Random(seed, 24) : null
  const drawn = random.pick(ALBUMS)
  const albums = isCopy || handed ? ONE_ALBUM : seed % 5 === 0 ? more.pick([ONE_ALBUM, drawn]) : drawn
  const without = one!.variations.without.filter(endpoint => endpoint === 'create_album')
  const variations = {
    ...one!.variations,
    without,
    oneId: false,
    defaultAlbum: null,
    blinks: null,
    depthMax: 10,
  }
  const passes = 2 + random.below(3)
  const pauses = Array.from({ length: passes }, () =>
    random.pick([1000, 5000, 20_000, 35_000, 60_000, 660_000]),
  )
  const machineOf = (history: History, album: string): History => ({
    ...history,
    variations,
    mirrors: [{ ...history.mirrors[0]!, album, deletions: 'propagate', mounted: false, subMount: false }],
    setting: PLAIN_SETTING,
    pauses,
    graceMs: random.pick([0, 0, 60_000]),
    actions: [
      ...history.actions
        .filter(({ kind }) => USUAL.has(kind))
        .map(action => ({ ...action, pass: action.pass % passes })),
      // Claims are about deletions.
      ...pauses.flatMap((_, pass): Action[] =>
        pass > 0 && random.chance(0.7)
          ? [{ pass, step: 0, kind: 'remove', a: random.next(), b: random.next() }]
          : [],
      ),
    ].sort((a, b) => a.pass - b.pass || a.step - b.step),
  })
  const machines = [machineOf(one!, albums[0]), machineOf(other!, albums[1])] as const
  const during = pauses.reduce((sum, pause) => sum + pause, 60_000)
  const troubleOf = (random: Random, kinds: readonly StoreFault[]): StoreTrouble => ({
    at: random.below(during),
    forMs: random.pick([20_000, 40_000, 300_000, 300_000]),
    kind: random.pick(kinds),
    machine: random.pick(['albumd', 'second'] as const),
  })
  return {
    seed,
    machines,
    clockOffset: random.pick([0, 7_300_000, -7_300_000]),
    troubles: [
      ...Array.from({ length: 1 + random.below(3) }, () => troubleOf(random, STORE_FAULTS)),
      ...(seed % 5 === 0 ? [troubleOf(more, ['older', 'older', 'evicts'])] : []),
      ...(handed ? handover(handed.below(during / 2), 60_000 + handed.below(during / 2)) : []),
    ],
    takenAt: random.chance(0.5) ? random.below(passes) : null,
    ...(isCopy && { isCopy }),
  }
}

/** The first machine is away, as one that sleeps. What the store held when that began it holds again when it is over. */
function handover(at: number, forMs: number): StoreTrouble[] {
  return [
    { at, forMs, kind: 'older', machine: 'albumd' },
    { at, forMs, kind: 'one', machine: 'albumd' },
  ]
}

/** One of two machines of a plan without albums, where both send into the host's root. */
const FLAT = {
  ...THREE,
  seed: 1_000_000_501,
  variations: { ...PLAIN, without: ['create_album'], namesBase: true },
  actions: [],
} satisfies History
const ofAlbum = (album: string) => [{ ...FLAT.mirrors[0]!, album }]

/** Histories that chance seldom draws; see `kept-histories.ts`. */
const KEPT: readonly MachinesHistory[] = [
  // The second machine gets the picture of an image that the first has sent, and loses the picture again.
  {
    seed: 1_000_000_501,
    machines: [
      { ...FLAT, mirrors: ofAlbum('Family/Ann') },
      {
        ...FLAT,
        mirrors: ofAlbum('Family/Ben'),
        files: [],
        actions: [at(1, 'add', 0, 1), at(1, 'add', 16, 5), at(2, 'remove')],
      },
    ],
    clockOffset: 0,
    troubles: [],
    takenAt: null,
  },
  // A machine sleeps, a person takes its album for the second, and the store is put back to a time before that.
  {
    seed: 1_000_000_504,
    machines: [
      { ...THREE, seed: 1_000_000_504, actions: [at(2, 'remove')] },
      { ...THREE, seed: 1_000_000_504, actions: [] },
    ],
    clockOffset: 0,
    troubles: handover(49_000, 99_000),
    takenAt: 1,
  },
]

export const keptMachines = (seed: number): MachinesHistory | undefined =>
  KEPT.find(kept => kept.seed === seed)
