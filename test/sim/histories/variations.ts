import { OWN_READINGS } from '../../../src/host/decisions.ts'
import type { ErrorCode } from '../../../src/protocol/errors.ts'
import { CREDENTIAL_LIFETIME_MS } from '../../../src/protocol/limits.ts'
import type { Alteration } from '../host/alterations.ts'
import { REFUSALS, type RefusedFormat } from '../host/refused-format.ts'
import type { Action, ActionKind } from './history.ts'
import type { Random } from './random.ts'

/** What the specification leaves open: what the real host may do, and what only this one does. */
export const PLAIN_READINGS = {
  ...OWN_READINGS,
  /** §4.1, §4.2: the steps of an upload that answer cdn_url. */
  cdnUrl: 'both' as 'both' | 'first' | 'second' | 'neither',
  /** §4.4: a page beyond the last; page 1 never is. */
  beyondLast: 'empty' as 'empty' | 'last-page' | 'refused',
  noSuchPage: 'NOT_FOUND' as ErrorCode,
  /** §2: total_pages of an album without images. */
  emptyPages: '0' as '0' | '1',
  /** §8: whether a credential that runs out unused counts for its day's quota. */
  unusedCredential: 'counts' as 'counts' | 'gives-back',
  /** §2: sizes in a listing, such as "349.9 KB" of 1000 bytes each or "341.7 KB" of 1024. */
  sizes: 'decimal' as 'decimal' | 'binary',
}

export type Readings = Readonly<typeof PLAIN_READINGS>

/** What the specification does not show of a host, decided for one history. */
export interface Variations {
  order: 'oldest' | 'newest' | 'shuffled'
  albumsOn: 'all' | 'first' | 'last'
  perPage: number
  quotaAt: 'credential' | 'sent'
  /** The quota is that of the last 24 hours, and comes free bit by bit. */
  rollingQuota: boolean
  /** How long a new image may be missing in lists. */
  listLagMs: number
  /** How long a deleted image may still be listed and delivered. */
  deletionLagMs: number
  /** Equal bytes get one id. */
  oneId: boolean
  /** Of the account's default album; null: it has none. */
  defaultAlbum: string | null
  without: readonly ('list' | 'delete' | 'create_album')[]
  depthMax: number
  /** Listings name the base of delivery addresses (§4.4), whatever `delivery` makes of it. */
  namesBase: boolean
  delivery: 'id' | 'file' | 'dated' | 'named' | 'other' | 'nothing'
  /** Delivery remembers what it did not find. */
  cachesAbsence: boolean
  /** An SVG without a size has no dimensions in a list. */
  oddSvg: boolean
  /** Every other walk of an album, odd or even ones, is served by a machine that has not heard of the newest image. */
  blinks: 'odd' | 'even' | null
  /** Listings count an image more than they show. */
  miscounts: boolean
  /** The host lists an image from step 1 on, with the bytes that it has or those declared, until the credential has
   * ended. kept: with no bytes, for ever. */
  promises: 'received' | 'declared' | 'kept' | null
  /** How the host answers the deletion of an image that is gone; null: as §4.5 says. */
  goneAs: { code: string; status: number } | null
  /** What the host delivers in the place of a picture; null: the picture. */
  alters: Alteration | null
  /** The host lists the sizes of what it delivers. */
  listsAltered: boolean
  /** What the host takes no pictures of. */
  refuses: RefusedFormat | null
  /** An album that the host does not know is the root. */
  strays: boolean
  /** A picture goes into the image of its name that is there, which keeps its id. */
  keepsIds: boolean
  /** What the host makes of the names that it lists: lower case and the usual extension; `_` for the first character, so that
   * several have one name; a number at the end of each. */
  renames: 'lower' | 'masked' | 'numbered' | null
  /** The second step of an upload answers with the image's id and address, and not only that it has succeeded. */
  tellsImage: boolean
  /** For how long the host takes a credential, as a share of the longest time for which a picture is on its way; null: as long as
   * it promises. */
  keeps: number | null
  /** How the host reads what the specification leaves open, where it does not read it as the embedded host does. */
  readings: Partial<Readings>
}

/** The host as the embedded one is. */
export const PLAIN: Variations = {
  order: 'oldest',
  albumsOn: 'all',
  perPage: 20,
  quotaAt: 'credential',
  rollingQuota: false,
  listLagMs: 0,
  deletionLagMs: 0,
  oneId: false,
  defaultAlbum: null,
  without: [],
  depthMax: 10,
  namesBase: false,
  delivery: 'id',
  cachesAbsence: false,
  oddSvg: false,
  blinks: null,
  miscounts: false,
  promises: null,
  goneAs: null,
  alters: null,
  listsAltered: false,
  refuses: null,
  strays: false,
  keepsIds: false,
  renames: null,
  tellsImage: true,
  keeps: null,
  readings: {},
}

/** Most hosts differ in a thing or two. */
export function drawVariations(random: Random): Variations {
  const seldom = <T>(usual: T, other: T, odds = 0.15) => (random.chance(odds) ? other : usual)
  return {
    order: random.pick(['oldest', 'newest', 'shuffled']),
    albumsOn: random.pick(['all', 'first', 'last']),
    perPage: random.pick([20, 20, 3, 2]),
    quotaAt: random.pick(['credential', 'sent']),
    rollingQuota: false,
    listLagMs: seldom(0, 1000 * (1 + random.below(300)), 0.25),
    deletionLagMs: seldom(0, 1000 * (1 + random.below(300)), 0.25),
    oneId: seldom(false, true, 0.08),
    defaultAlbum: seldom(null, 'Inbox', 0.1),
    without: seldom([], [random.pick(['list', 'delete', 'create_album'] as const)], 0.12),
    depthMax: seldom(10, 1 + random.below(2), 0.06),
    namesBase: false,
    delivery: random.pick(['id', 'id', 'file', 'other']),
    cachesAbsence: seldom(false, true),
    oddSvg: seldom(false, true),
    blinks: null,
    miscounts: false,
    promises: null,
    goneAs: null,
    alters: null,
    listsAltered: false,
    refuses: null,
    strays: false,
    keepsIds: false,
    renames: null,
    tellsImage: true,
    keeps: null,
    readings: {},
  }
}

/** What fresh seeds alone have. */
export function drawMoreVariations(drawn: Variations, random: Random, another: Random): Variations {
  const blinks = another.chance(0.1) ? another.pick(['odd', 'even'] as const) : null
  const more = { ...drawn, blinks, namesBase: another.chance(0.2) }
  return random.chance(0.15) ? { ...more, delivery: 'dated' } : more
}

export const GONE = [
  { code: 'IMAGE_NOT_FOUND', status: 404 },
  { code: '', status: 410 },
  { code: 'VALIDATION_ERROR', status: 400 },
  { code: 'FORBIDDEN', status: 403 },
] as const

/** Hosts that run in the open differ in more. */
export function drawReal(
  random: Random,
  another: Random,
  third: Random,
  fourth: Random,
): Partial<Variations> {
  return {
    promises: random.pick(['received', 'declared', 'kept', null] as const),
    goneAs: random.pick([null, ...GONE]),
    strays: another.chance(0.3),
    keepsIds: another.chance(0.2),
    alters: another.chance(0.3) ? another.pick(['strip', 'encode'] as const) : null,
    renames: third.pick([null, null, 'lower', 'masked', 'numbered'] as const),
    rollingQuota: fourth.chance(0.2),
  }
}

/** Hosts that make something else of pictures, or refuse some. `usual`: as it is otherwise. */
export function drawAltering(random: Random, usual: Variations): Partial<Variations> {
  const mime = random.pick(['image/gif', 'image/jpeg', 'image/svg+xml'])
  const refusal = random.pick(REFUSALS)
  // Another size means an edit where nobody knows what is delivered.
  const listsAltered = random.chance(0.3)
  const alters = random.pick([
    'pack',
    'pack',
    'turn',
    'turn',
    'shrink',
    'shrink',
    'strip',
    'encode',
    null,
  ] as const)
  // What shows that a new version is in the image of the old one: its delivery.
  const isShown = usual.delivery !== 'nothing' && alters !== 'turn' && alters !== 'shrink'
  return {
    alters,
    ...(listsAltered && { listsAltered, namesBase: true, delivery: 'id' }),
    refuses: random.chance(0.3) ? { mime, ...refusal } : null,
    keepsIds: usual.keepsIds && isShown,
  }
}

/** What a host may answer to a failure for which §4 names no code. */
const CODES = ['NOT_FOUND', 'FORBIDDEN', 'VALIDATION_ERROR', 'INVALID_PARAMS'] as const

/** Those that reach the engine. What is gone still draws, so that fixed seeds draw as ever. */
// biome-ignore format: a list.
const CHOICES: readonly (readonly [keyof Readings | 'gone', readonly string[]])[] = [
  ['gone', ['']], ['dimensions', ['stored', 'turned', 'stored']], ['gone', ['']], ['gone', ['']], ['gone', ['']],
  ['gone', ['']], ['cdnUrl', ['both', 'first', 'second', 'neither']], ['beyondLast', ['empty', 'last-page', 'refused']],
  ['emptyPages', ['0', '1']], ['gone', ['']], ['albumNames', ['repeatable', 'unique']],
  ['unusedCredential', ['counts', 'gives-back']], ['gone', ['']], ['sizes', ['decimal', 'binary']],
]
// biome-ignore format: a list.
const CODED = [
  'unknownAlbum', 'unknownCredential', 'spentCredential', 'lostAlbum', 'wrongLength', 'noSuchPage', 'albumNameTaken',
  'tooDeep',
] as const

export function drawReadings(random: Random): Partial<Readings> {
  const chosen = CHOICES.map(([name, values]) => [name, random.pick(values)])
  const codesOf = (name: string) => (name === 'wrongLength' ? [...CODES, 'INVALID_FILE_SIZE'] : CODES)
  const coded = CODED.map(name => [name, random.pick<string>(codesOf(name))])
  return Object.fromEntries([...chosen, ...coded].filter(([name]) => name !== 'gone'))
}

export const LIFETIME_MS = CREDENTIAL_LIFETIME_MS

/** Actions that show something only one after the other. */
export interface Scene {
  actions: Action[]
  /** How many passes the history needs for them. */
  passes: number
}

/** Few have very many pictures: each costs time. */
const MANY_ODDS = 0.025
const RULES_ODDS = 0.12

/** What is drawn beside the other actions of a history of so many passes. */
export function drawScene(random: Random, passes: number): Scene {
  const kind = random.below(1000) / 1000
  if (kind < MANY_ODDS) return manyPictures(random, passes)
  return kind < MANY_ODDS + RULES_ODDS ? changingRules(random, passes) : { actions: [], passes }
}

/** A folder loses all that it holds, and may get it back. */
function manyPictures(random: Random, passes: number): Scene {
  const emptied = 1 + random.below(Math.max(1, passes - 1))
  const after = emptied + random.below(2)
  const actions = [act(random, 0, 'fillFolder'), act(random, emptied, 'emptyFolder')]
  if (random.chance(0.5)) actions.push(act(random, after, 'bringBack'))
  return { actions, passes: Math.max(passes, after + 1) }
}

/** There are rules, and then others, or nobody knows which. */
function changingRules(random: Random, passes: number): Scene {
  const begun = random.below(2)
  const after = begun + random.below(2)
  const end: ActionKind = random.pick(['unignore', 'unignore', 'ignoreFileUnreadable', 'prune'])
  const actions = [act(random, begun, 'ignore'), act(random, after, end)]
  if (end === 'prune' && random.chance(0.5)) actions.push(act(random, after, 'unignore'))
  return { actions, passes: Math.max(passes, after + 1) }
}

function act(random: Random, pass: number, kind: ActionKind): Action {
  const step = random.chance(0.5) ? 0 : 1 + random.below(2 ** (3 + random.below(6)))
  return { pass, step, kind, a: random.next(), b: random.next() }
}
