import type { Deletions } from '../../../src/records/escrow.ts'
import type { HoldPolicy } from '../../../src/sync/deletions/hold.ts'
import { Random } from './random.ts'
import { FRESH, GROWING, isBroad, LATER, LATEST, READ } from './seeds.ts'
import { drawSetting, PLAIN_SETTING, type Setting } from './setting.ts'
import {
  drawMoreVariations,
  drawReadings,
  drawScene,
  drawVariations,
  PLAIN,
  type Variations,
} from './variations.ts'

/** What may happen in a history. Each is done by `people/actions.ts` or `host-actions.ts`. */
// biome-ignore format: a table.
export const WEIGHTS = {
  add: 10, change: 8, changeInPlace: 3, changeUnseen: 4, writeSlowly: 3, rename: 8, remove: 8, removeMany: 3,
  undelete: 5, folderForFile: 1, linkForFile: 1, emptyFile: 1, swapFolders: 2, renameFolder: 3, restoreOld: 3,
  copyTo: 4, lookAlike: 4, reencode: 1, ignore: 2, unignore: 2, ignoreFileUnreadable: 1, folderUnreadable: 2,
  fileUnreadable: 1, readable: 3, rootOff: 2, rootOn: 3, mountOff: 2, mountOn: 2, clockJump: 2, reboot: 1, kill: 8,
  end: 2, pauseUploads: 2, saveState: 2, restoreState: 1, loseState: 1, fault: 20, quota: 2, quotaBack: 1,
  otherUploads: 2, otherLookAlike: 3, otherDeletes: 1, otherAlbum: 1, otherDeletesAlbum: 1, approve: 2, discard: 1,
  wait: 4,
} as const

/** What fresh seeds alone have: fixed ones draw as ever. */
const MORE_WEIGHTS = { removeFolder: 4 } as const

/** What later seeds alone have: those from before draw as ever. */
const LATER_WEIGHTS = { writeInPieces: 5, writeOver: 4, reserveRoom: 2, pause: 3, resume: 3 } as const

/** What the latest seeds alone have, and what they have more often: those from before draw as ever. */
// biome-ignore format: a table.
const LATEST_WEIGHTS = {
  audit: 3, auditRepair: 5, keepDeleted: 2, resend: 6, ignore: 3, unignore: 3, ignoreFileUnreadable: 2, prune: 2,
} as const

/** What broad seeds alone have. */
// biome-ignore format: a table.
const BROAD_WEIGHTS = {
  approveHalf: 4, retry: 3, compareLinks: 3, adopt: 2, otherPlan: 1, otherMoves: 2, otherFolder: 1, nameOddly: 2,
  mountOver: 1, rootUnreadable: 1, moveMirror: 1, turnAway: 2,
} as const

export type ActionKind =
  | keyof typeof WEIGHTS
  | keyof typeof MORE_WEIGHTS
  | keyof typeof LATER_WEIGHTS
  | keyof typeof LATEST_WEIGHTS
  | keyof typeof BROAD_WEIGHTS
  | SceneKind
  | KeptKind

/** Of scenes alone, and of kept histories alone. */
type SceneKind = 'fillFolder' | 'emptyFolder' | 'bringBack' | 'removeSome' | 'discardMany' | 'approveMany'
type KeptKind =
  | 'saveCopy'
  | 'takeAside'
  | 'olderCopy'
  | 'beginRestore'
  | 'endRestore'
  | 'restoreDelivered'
  | 'editNote'
  | 'editFact'
  | 'sendAnew'
  | 'planGrows'
  | 'hostCloses'
  | 'hostOpens'

/** At a step of a pass, or (step 0) before it. `a` and `b` are raw: what they mean depends on what is there. */
export interface Action {
  pass: number
  step: number
  kind: ActionKind
  a: number
  b: number
}

export interface MirrorChoice {
  album: string
  deletions: Deletions
  /** Its root is a disk of its own. */
  mounted: boolean
  /** A disk of its own is mounted at its folder `b`. */
  subMount: boolean
  /** That is no disk of its own but another folder of the root's. */
  bind: boolean
}

/** All of a history: what happens follows from it alone. */
export interface History {
  /** Of latencies and the like. */
  seed: number
  variations: Variations
  mirrors: readonly MirrorChoice[]
  /** Raw: what lies in the mirrors at the beginning. */
  files: readonly [number, number][]
  hold: HoldPolicy
  graceMs: number
  graceManyMs: number
  concurrency: number
  order: 'newest' | 'oldest'
  setting: Setting
  /** Whether what becomes stale is scanned beside the uploads, as the daemon does. Then uploads are slow. */
  news: boolean
  /** Each pass is a `sync` of its own: a process that ends with it, but for those in which all is to agree. */
  syncs?: true
  /** Each look at the wall clock takes a millisecond, as a large commit takes its time. */
  ticks?: true
  /** The pause after each pass, in milliseconds. */
  pauses: readonly number[]
  actions: readonly Action[]
}

const PAUSES = [1000, 5000, 60_000, 60_000, 660_000, 3_700_000]

function isLong(seed: number): boolean {
  return seed < FRESH || seed % 12 === 0
}

export function drawHistory(seed: number): History {
  const random = new Random(seed)
  // A stream of its own: fixed seeds draw as ever.
  const another = new Random(seed, 3)
  const more = (drawn: Variations) => {
    if (seed < FRESH) return drawn
    const readings = seed < READ ? {} : drawReadings(new Random(seed, 7))
    return { ...drawMoreVariations(drawn, another, new Random(seed, 4)), readings }
  }
  const later = new Random(seed, 5)
  const setting = seed < LATER ? PLAIN_SETTING : drawSetting(later)
  const plan = seed < GROWING ? null : new Random(seed, 8)
  const grows = plan?.chance(0.2) === true
  const long = isLong(seed)
  const drawn = long ? 2 + random.below(5) : 1 + random.below(2)
  const scene = seed < LATEST ? null : drawScene(new Random(seed, 6), drawn)
  const passes = scene?.passes ?? drawn
  const count = long ? 3 + random.below(random.chance(0.3) ? 28 : 12) : 2 + random.below(7)
  const two = random.chance(long ? 0.35 : 0.2)
  return {
    seed,
    variations: withoutAlbums(grows, more(random.chance(0.25) ? PLAIN : drawVariations(random))),
    mirrors: (two
      ? [drawMirror(random, 'Photos'), drawMirror(random, 'Scans/Old')]
      : [drawMirror(random, null)]
    ).map(mirror => ({ ...mirror, bind: setting.mountsListed && later.chance(0.6) })),
    files: Array.from(
      { length: 1 + random.below(long ? 8 : 3) },
      () => [random.next(), random.next()] as const,
    ).map(([a, b]) => [a, b]),
    hold: random.chance(0.5) ? { hold_above: 0.25, hold_min: 2 } : { hold_above: 0.5, hold_min: 20 },
    graceMs: random.pick([0, 60_000, 600_000]),
    graceManyMs: 0,
    concurrency: random.pick([1, 2, 4]),
    order: random.pick(['newest', 'oldest']),
    setting,
    news: false,
    pauses: Array.from({ length: passes }, () => random.pick(PAUSES)),
    actions: [
      ...(scene?.actions ?? []),
      ...(grows ? drawGrowth(plan!, passes) : []),
      ...Array.from({ length: count }, () => drawAction(random, passes, ticketsFor(seed))),
    ].sort(byTime),
  }
}

function withoutAlbums(isSmall: boolean, drawn: Variations): Variations {
  return isSmall ? { ...drawn, without: [...drawn.without, 'create_album'] } : drawn
}

/** The account gets a larger plan, and perhaps something goes wrong with the next picture that is sent. */
function drawGrowth(random: Random, passes: number): Action[] {
  const when = { pass: random.below(passes), step: random.chance(0.5) ? 0 : 1 + random.below(60) }
  const fault: Action = { ...when, kind: 'fault', a: 5 * random.below(1000), b: random.next() }
  return [{ ...when, kind: 'planGrows', a: 0, b: 0 }, ...(random.chance(0.5) ? [fault] : [])]
}

function drawMirror(random: Random, album: string | null): Omit<MirrorChoice, 'bind'> {
  return {
    album: album ?? random.pick(['Photos', 'Photos', 'A/B', '']),
    deletions: random.chance(0.1) ? 'keep' : 'propagate',
    mounted: random.chance(0.4),
    subMount: random.chance(0.25),
  }
}

/** Each kind as often as its weight says. */
const TICKETS = ticketsOf(WEIGHTS)
const FRESH_TICKETS = ticketsOf(WEIGHTS, MORE_WEIGHTS)
const LATER_TICKETS = ticketsOf(WEIGHTS, MORE_WEIGHTS, LATER_WEIGHTS)
const LATEST_TICKETS = ticketsOf(WEIGHTS, MORE_WEIGHTS, LATER_WEIGHTS, LATEST_WEIGHTS)
const BROAD_TICKETS = ticketsOf(WEIGHTS, MORE_WEIGHTS, LATER_WEIGHTS, LATEST_WEIGHTS, BROAD_WEIGHTS)

function ticketsFor(seed: number): readonly ActionKind[] {
  if (isBroad(seed)) return BROAD_TICKETS
  if (seed < FRESH) return TICKETS
  if (seed < LATER) return FRESH_TICKETS
  return seed < LATEST ? LATER_TICKETS : LATEST_TICKETS
}

function ticketsOf(...weights: Partial<Record<ActionKind, number>>[]): ActionKind[] {
  const all: Partial<Record<ActionKind, number>> = Object.assign({}, ...weights)
  return (Object.keys(all) as ActionKind[]).flatMap(kind => Array.from({ length: all[kind]! }, () => kind))
}

function drawAction(random: Random, passes: number, tickets: readonly ActionKind[]): Action {
  const kind = tickets[random.below(tickets.length)]!
  // Half of all falls into the pauses, the rest into early steps rather than late ones.
  const step = random.chance(0.45) ? 0 : 1 + random.below(2 ** (3 + random.below(6)))
  return { pass: random.below(passes), step, kind, a: random.next(), b: random.next() }
}

export function byTime(one: Action, other: Action): number {
  return one.pass - other.pass || one.step - other.step
}
