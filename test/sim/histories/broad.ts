import { HOUR_MS } from '../../../src/protocol/clock.ts'
import { type Action, byTime, drawHistory, type History } from './history.ts'
import { ALL_KEPT } from './kept-histories.ts'
import { KEPT_LATER } from './kept-later.ts'
import { Random } from './random.ts'
import { isAltering, isEditing, isReal, isStripping, mayTellLess } from './seeds.ts'
import { DELETIONS } from './seldom/deletions.ts'
import { DISKS } from './seldom/disks.ts'
import { LOSSES } from './seldom/losses.ts'
import { UPLOADS } from './seldom/uploads.ts'
import type { Setting } from './setting.ts'
import { drawAltering, drawReal } from './variations.ts'

/** Histories that bring about what chance draws seldom (`reach/states.ts`). */
export const SELDOM: readonly History[] = [...UPLOADS, ...LOSSES, ...DELETIONS, ...DISKS]

/** Kept histories (ends of numbers) that alone, or with one or two, show a state: see `states.whole.test.ts`. */
export const ALONE = [
  ...[4, 30, 32, 105, 112, 201, 203, 204, 206, 209, 210, 212, 214, 218, 219, 223, 224, 225, 226, 227, 228],
  ...[230, 232, 233, 234, 236, 239, 240, 241, 215, 248, 249, 296],
]
export const FEW = [
  ...[1, 14, 3, 5, 7, 9, 12, 16, 18, 104, 207, 220, 221, 222, 231, 235, 216, 238, 242, 301, 244, 245],
  ...[246, 247, 254, 264, 268, 277, 281, 282, 34, 35, 285, 302, 288, 312, 315, 318, 325],
]

const areAmong = (numbers: readonly number[]) =>
  [...ALL_KEPT, ...SELDOM].filter(({ seed }) => numbers.includes(seed - 1_000_000_000))

/** What most broad histories begin as. Those that alone bring a state about come twice as often as others. */
const OFTEN: readonly History[] = [...areAmong(ALONE), ...areAmong(ALONE), ...areAmong(FEW)]

export function keptHistory(seed: number): History | undefined {
  return [...ALL_KEPT, ...SELDOM, ...KEPT_LATER].find(history => history.seed === seed)
}

/** What broad histories begin as (ends of numbers), for states seen too seldom. Each comes as often as it takes. */
const SCARCE: readonly History[] = [
  // A picture may have moved.
  ...[405, 405, 405, 405, 406, 406, 406, 406],
  // An upload under way in a crash is found.
  ...[407, 407, 407, 407, 407, 407, 407, 407],
  // A repair has a picture sent again.
  ...[101, 603, 287, 371],
  // The process is killed with an album under way, or a folder is another one when its picture is to be sent.
  ...[236, 236, 212, 212],
  // A folder is scanned again while an upload is under way.
  ...[401, 402, 403, 404],
  // A person waits for a pass that uploads, or has the process end. An older state is put back while an upload is in doubt.
  ...[210, 210, 209, 209, 201],
  // A folder that was gone comes back as an older copy.
  ...[64, 64, 65, 65, 66, 66, 67, 67],
].map(number => keptHistory(1_000_000_000 + number)!)

/** The same of a restore that has not ended. The last one begins while deletions are about to leave. */
const RESTORED = [411, 412, 413, 414, 414, 414, 414, 414].map(number => keptHistory(1_000_000_000 + number)!)

/** A kept history with other latencies, mostly at the same steps, and often with more that happens. */
export function drawBroad(seed: number): History {
  const random = new Random(seed, 11)
  const drawn = drawHistory(seed)
  if (random.chance(0.1) && !isReal(seed)) return drawn
  const usual = random.pick(random.chance(0.75) ? OFTEN : [...ALL_KEPT, ...SELDOM])
  // Streams of their own: all others draw as ever.
  const scarce = new Random(seed, 13)
  const restored = new Random(seed, 14)
  const others = scarce.chance(0.1) ? scarce.pick(SCARCE) : usual
  const kept = restored.chance(0.03) ? restored.pick(RESTORED) : others
  const passes = kept.pauses.length
  const shifted = ({ step, ...action }: Action) => ({ ...action, step: step && 1 + random.below(2 * step) })
  const more = drawn.actions.slice(0, 3).map(action => ({ ...action, pass: action.pass % passes }))
  const real = isReal(seed) ? new Random(seed, 15) : null
  const rolling = new Random(seed, 18)
  const altering = isAltering(seed) ? new Random(seed, 19) : null
  const usualHost = {
    ...kept.variations,
    ...(real && drawReal(real, new Random(seed, 16), new Random(seed, 17), rolling)),
  }
  // Where equal bytes have one id, the answer alone tells it: see known-limits.
  const tellsLess = mayTellLess(seed) && !usualHost.oneId && new Random(seed, 20).chance(0.2)
  const editing = isEditing(seed) ? new Random(seed, 21) : null
  const variations = {
    ...usualHost,
    ...(altering && drawAltering(altering, usualHost)),
    ...(editing && { alters: editing.pick(['strip', 'trim', 'pack', 'encode', null] as const) }),
    ...(tellsLess && { tellsImage: false }),
  }
  // What is used comes free only after a day.
  const pause = (usual: number) => (variations.rollingQuota ? rolling.pick([usual, 7 * HOUR_MS]) : usual)
  const quota = (): Action => ({
    pass: rolling.below(passes),
    step: 0,
    kind: 'quota',
    a: rolling.next(),
    b: 0,
  })
  const fault = () => ({
    pass: real!.below(passes),
    step: 0,
    kind: 'fault' as const,
    a: 5 * real!.below(1000),
    b: 0,
  })
  const stripping = isStripping(seed) ? new Random(seed, 20) : null
  return {
    ...kept,
    seed,
    variations,
    ...(stripping && { setting: { ...kept.setting, strips: drawStrips(stripping, passes) } }),
    pauses: kept.pauses.map(pause),
    concurrency: random.pick([kept.concurrency, kept.concurrency, 2, 4]),
    news: kept.news || new Random(seed, 12).chance(0.5),
    actions: [
      ...(random.chance(0.2) ? kept.actions.map(shifted) : kept.actions),
      ...(random.chance(0.3) ? more : []),
      ...(real?.chance(0.5) ? [fault()] : []),
      ...(variations.rollingQuota ? [quota()] : []),
      ...drawAllEdits(passes, altering, stripping, editing),
    ].sort(byTime),
  }
}

/** From the beginning to the end, or for a part of the passes. */
function drawStrips(random: Random, passes: number): NonNullable<Setting['strips']> {
  if (random.chance(0.5)) return { from: 0, to: Number.MAX_SAFE_INTEGER }
  const from = random.below(passes + 1)
  return { from, to: random.chance(0.7) ? Number.MAX_SAFE_INTEGER : from + 1 + random.below(passes) }
}

/** Each stream is that of a kind of seeds, or null. */
function drawAllEdits(
  passes: number,
  altering: Random | null,
  stripping: Random | null,
  editing: Random | null,
): Action[] {
  return [
    ...(altering ? drawComparing(altering, passes) : []),
    ...(stripping ? drawEdits(stripping, passes, 'editNote') : []),
    ...(editing ? drawEdits(editing, passes, 'editFact') : []),
  ]
}

/** Edits of metadata or facts alone, a lost state, and a person who wants older images sent anew. */
function drawEdits(random: Random, passes: number, kind: 'editNote' | 'editFact'): Action[] {
  const draw = (odds: number, kind: Action['kind']): Action[] => {
    const step = random.chance(0.5) ? 0 : 1 + random.below(60)
    const action = { pass: random.below(passes), step, kind, a: random.next(), b: random.next() }
    return random.chance(odds) ? [action] : []
  }
  const edits = Array.from({ length: 4 }, () => draw(0.7, kind)).flat()
  return [...edits, ...draw(0.3, 'loseState'), ...draw(0.4, 'sendAnew'), ...draw(0.3, 'add')]
}

/** What has albumd compare pictures with images: a lost state, an audit, and a deletion after them. */
function drawComparing(random: Random, passes: number): Action[] {
  const draw = (odds: number, kind: Action['kind']): Action[] => {
    const action = { pass: random.below(passes), step: 0, kind, a: random.next(), b: random.next() }
    return random.chance(odds) ? [action] : []
  }
  return [...draw(0.5, 'loseState'), ...draw(0.3, 'audit'), ...draw(0.5, 'remove'), ...draw(0.3, 'add')]
}
