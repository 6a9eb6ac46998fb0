import { FORMATS, formatOfName } from '../../../src/protocol/formats.ts'
import { HOST_REFUSES } from '../../../src/remote/failures.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import type { FileRow } from '../../../src/synced/tables/files.ts'
import { isIgnored, type LivePicture, livePictures } from '../disk/live-pictures.ts'
import { readTiny } from '../disk/tiny-picture.ts'
import { split } from '../disk/tree.ts'
import { rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'
import type { ActionKind } from '../histories/history.ts'
import { LATEST } from '../histories/seeds.ts'
import { LIFETIME_MS } from '../histories/variations.ts'
import type { TrueImage } from '../host/host-truth.ts'
import { approveHeld, trustDoubtful } from '../people/person.ts'
import { isEmpty } from './doubts.ts'
import { needless, standsFor } from './needless.ts'
import { mustKnowAll } from './waits-judge.ts'

/** After each pass of the end: a minute, credentials' lives, graces, and the hours until what failed is tried again. */
const RESTS_MS = [
  61_000, 800_000, 800_000, 800_000, 3_700_000, 800_000, 800_000, 90_000_000, 800_000, 800_000, 3_700_000,
  90_000_000, 800_000, 800_000, 800_000, 800_000,
]

/** Longer than any list shows what is gone. */
const LATE_MS = 400_000

/** One doubt may hide another: a folder whose pictures had gone to one that was emptied too. */
const DOUBTS_MOST = 3

/** A pass with nothing to do may ask for so many lists. */
const IDLE_LISTS = 3

/** Trouble is over: disk and host must come to agree and stay so, also after a person has trusted what was in doubt. */
export async function mustConverge(world: World, from: number): Promise<void> {
  endTrouble(world)
  if (onlyFoldersChange(world)) await mustBeSure(world, from)
  await mustAgree(world, from)
  for (let doubts = 0; !world.oracle.violation && trustDoubtful(world) > 0; doubts++) {
    if (doubts === DOUBTS_MOST)
      return world.oracle.report('converges', 'doubts go on, whatever a person says')
    // An ignore file that has just vanished hides other doubts, and only time tells what became of it.
    await world.rest(RESTS_MS[0]!)
    await mustAgree(world, from + RESTS_MS.length)
  }
  if (!world.oracle.violation) await mustMend(world, from + 2 * RESTS_MS.length)
  if (world.oracle.violation || world.history.seed < LATEST || !world.pruning.hidesAnything()) return
  await waitForRules(world, from + 3 * RESTS_MS.length)
  world.pruning.ask()
  await mustAgree(world, from + 4 * RESTS_MS.length, true)
}

const ADDING: ReadonlySet<ActionKind> = new Set(['add', 'copyTo', 'fillFolder', 'wait'])

/** Folders have changed names, and nothing else has happened since the pass before. */
function onlyFoldersChange({ history: { actions } }: World): boolean {
  const first = actions.find(({ kind }) => kind === 'swapFolders')
  if (!first) return false
  return actions.every(({ kind, pass }) => kind === 'swapFolders' || (pass < first.pass && ADDING.has(kind)))
}

/** Folders that changed names have moved: nobody is asked about them. */
async function mustBeSure(world: World, number: number): Promise<void> {
  await world.passes.run(number, true)
  const { synced } = world.state
  for (const { id, folder } of synced.mirrors.all()) {
    const doubtful = synced.folders.unknown(id).map(({ path }) => path)
    const held = synced.summaries.mirror(id).held_deletions
    if (doubtful.length + held > 0)
      world.oracle.report(
        'needless-doubt',
        `${folder}: ${held} are held, and in doubt is: ${doubtful.join(', ')}`,
      )
  }
}

/** Whatever went wrong goes wrong no more. */
export function endTrouble(world: World): void {
  world.host.faults.clear()
  world.host.keeps = Number.POSITIVE_INFINITY
  world.host.quota = Number.POSITIVE_INFINITY
  world.tree.calm()
  world.calm()
}

/** A prune leaves alone what lies under an ignore file that went some seconds ago: by then that is believed. */
async function waitForRules(world: World, number: number): Promise<void> {
  if (!world.mirrors.some(mirror => isGuarded(world, mirror))) return
  await world.rest(RESTS_MS[0]!)
  await world.passes.run(number, true)
}

/** A person has sent again what is in doubt, and an audit mend what others did: then that excuses nothing any more. */
async function mustMend(world: World, from: number): Promise<void> {
  const { oracle, host, auditing, resending } = world
  const people = new Set(world.history.actions.map(({ kind }) => kind))
  if (people.has('resend') && resending.allAtLast()) await mustAgree(world, from)
  if (!people.has('auditRepair') || oracle.violation) return
  host.keepsDeleted = 0
  await letTimePass(world)
  // What one that was begun long ago calls new is only for the next.
  for (let at = 0; at < 2 && !oracle.violation; at++) {
    auditing.ask(true, false)
    await world.passes.run(from + RESTS_MS.length, true)
  }
  if (oracle.violation || !auditing.last?.complete || auditing.last.stopped.length > 0) return
  oracle.mended = true
  await mustAgree(world, from + RESTS_MS.length + 1)
}

/** Audits look by the clock and await late lists; a repair believes no list about a young image without an address. */
async function letTimePass(world: World): Promise<void> {
  const hasAddresses = world.host.readings.cdnUrl !== 'neither'
  await world.rest(Math.max(0, -world.machine.offset) + (hasAddresses ? LATE_MS : LIFETIME_MS + LATE_MS))
}

/** `pruned`: nothing of what rules hide is to be left either. */
async function mustAgree(world: World, from: number, pruned = false): Promise<void> {
  let left: string[] = []
  for (const [at, rest] of RESTS_MS.entries()) {
    const before = world.oracle.effects
    const untouched = () => world.disk.stale.size === 0
    const idle = at > 0 && left.length === 0 && untouched() && isIdle(world)
    const asked = { ...world.host.asked }
    // Each album of no use is looked at before it goes.
    const lists = IDLE_LISTS + world.state.synced.unusedAlbums.unused().length
    await world.passes.run(from + at, true)
    if (idle && untouched() && !world.seat) mustBeQuiet(world, asked, lists)
    // Another machine with a newer claim on the album has come back.
    if (world.oracle.violation || world.seat?.isOut) return
    const quiet = world.oracle.effects === before + probesSince(world, asked)
    approveHeld(world)
    left = differences(world, pruned)
    if (quiet && left.length === 0 && !somethingWaits(world)) return mustKnowAll(world)
    await world.rest(rest)
    if (world.oracle.violation) return
    if (quiet && at === RESTS_MS.length - 1 && left.length === 0 && !asksForGone(world)) return
  }
  world.oracle.report('converges', left.length > 0 ? left.join('; ') : 'passes go on changing the host')
}

/** How many pictures were sent whose format the host refuses: it is asked about now and then, for ever. */
function probesSince({ host }: World, { refused }: World['host']['asked']): number {
  return host.variations.refuses?.at === 'send' ? host.asked.refused - refused : 0
}

/** Nothing to do, and nothing in doubt. */
function isIdle(world: World): boolean {
  const { synced } = world.state
  const open = synced.mirrors.all().some(({ id, guard }) => {
    const { uncertain, linked, failed, pending_uploads, pending_deletions, held_deletions } =
      synced.summaries.mirror(id)
    return (
      guard !== null || uncertain + linked + failed + pending_uploads + pending_deletions + held_deletions > 0
    )
  })
  return (
    !open &&
    !somethingWaits(world) &&
    synced.journal.open().length === 0 &&
    synced.unusedAlbums.all().length === 0
  )
}

/** A pass with nothing to do asks for nearly nothing. */
function mustBeQuiet({ host, oracle }: World, before: World['host']['asked'], mostLists: number): void {
  const lists = host.asked.lists - before.lists
  const others = host.asked.others - before.others
  if (lists > mostLists || others > 0)
    oracle.report('quiet', `a pass with nothing to do asked for ${lists} lists and ${others} other things`)
}

/** Whether a deletion is tried again and again, although the image is gone and the host shows it. Where a mirror is in doubt,
 * none is tried until a person has trusted it. */
function asksForGone({ state: { synced }, host }: World): boolean {
  if (host.lacks('list')) return false
  const trusted = synced.mirrors.all().filter(({ guard }) => guard === null)
  const postponed = trusted.flatMap(({ id }) => synced.escrow.ofMirror(id))
  return postponed.some(
    entry => entry.postponed === 1 && host.truth.images.get(synced.images.byId(entry.image)!.remote_id)?.gone,
  )
}

function somethingWaits({ state: { synced }, mirrors, machine }: World): boolean {
  const ids = mirrors.flatMap(({ folder }) => synced.mirrors.of(folder)?.id ?? [])
  return synced.escrow.nextDue(ids, machine.wall()) !== null || synced.journal.openUploads().length > 0
}

/** Where disk and host differ, apart from what they may differ in. */
function differences(world: World, pruned: boolean): string[] {
  const { disk, mirrors } = world
  const usual = mirrors.filter(mirror => !isGuarded(world, mirror))
  const pictures = [...livePictures(disk, usual)]
  const wanted = pruned ? pictures.filter(({ path }) => !isIgnored(disk, mirrors, path)) : pictures
  const images = world.truth.live()
  return [
    ...mirrors.flatMap(mirror => needlessGuard(world, mirror) ?? []),
    ...pictures.flatMap(picture => missing(world, picture, images) ?? []),
    // Where one mirror is in doubt, pictures of the others may have gone there.
    ...(usual.length < mirrors.length
      ? []
      : images.flatMap(image => needless(world, usual, image, wanted, pruned) ?? [])),
  ]
}

function isGuarded({ state: { synced } }: World, { folder }: MirrorPolicy): boolean {
  return (synced.mirrors.of(folder)?.guard ?? null) !== null
}

/** A root comes back by itself where it is the very one that was, and holds something; else by a person's word. */
function needlessGuard({ disk, doubts, state: { synced } }: World, { folder }: MirrorPolicy): string | null {
  const row = synced.mirrors.of(folder)
  if (row?.guard_code === 'ROOT' && doubts.trusted.has(folder))
    return `${folder} is guarded, and a person trusts it`
  const root = disk.find(folder)
  if (row?.guard_code !== 'ROOT' || !root || isEmpty(disk, folder)) return null
  const { node, dev } = root
  const isIt = row.dev === dev && row.ino === node.ino && row.birthtime === node.birthtime
  return isIt ? `${folder} is guarded, and it is the root that it was` : null
}

function missing(world: World, picture: LivePicture, images: readonly TrueImage[]): string | null {
  const { disk, mirrors } = world
  const { path, node } = picture
  // Where no answer tells an image, an upload is as much in doubt when it is sent again.
  if (world.resending.isInVain(path) && world.history.variations.tellsImage)
    return `${path} stays in doubt, whatever a person says`
  if (isIgnored(disk, mirrors, path) || images.some(image => standsFor(world, image, picture))) return null
  const row = rowAt(world.state.synced, world.mirrors, path)
  const { refuses } = world.history.variations
  if (refuses?.mime === readTiny(node.bytes)?.mime) return failedAlone(world, path, row)
  if (row?.state === 'pending' && refuses?.mime === mimeOfName(path) && mayRefuseAll(world)) return null
  if (row?.state === 'linked') return resembles(world, row, node)
  if (row?.state === 'uncertain') return null
  if (world.history.setting.uploadForm === 'presign' && world.albumPathOf(split(path).folder) !== '')
    return null
  if (row?.state === 'failed' && (!triedAgain(world, row) || isNameTaken(world, picture, row))) return null
  // Without a list nobody can tell what is there: after its state was lost, where an album's answer was, where NOT_FOUND is
  // said of an album that may not be made and may be said of the album above it, or where of an album that another person
  // deleted is said what may be said of a picture.
  const { without, readings } = world.history.variations
  const hasLostAlbum = world.history.actions.some(({ kind }) => kind === 'otherDeletesAlbum')
  const isUnclear =
    world.oracle.stateLost ||
    world.state.synced.journal.newestCreation() !== null ||
    readings.tooDeep === 'NOT_FOUND' ||
    (readings.unknownAlbum !== 'NOT_FOUND' && hasLostAlbum)
  if (without.includes('list') && isUnclear) return null
  // Another person deleted it, or its album, or a state that knows nothing of it did: the host is never a source.
  const taken = [...world.truth.images.values()].some(
    ({ gone, hash }) =>
      !world.oracle.mended &&
      gone !== null &&
      (gone.by === 'other' || world.oracle.stateLost) &&
      hash === node.hash,
  )
  return taken ? null : `${path} is not on the host (${row?.state ?? 'not known'})`
}

/** The host seems to refuse all pictures: one asks a probe, and those that have the name of another type come first. */
function mayRefuseAll({ state: { synced } }: World): boolean {
  return synced.account.blocks().some(({ code }) => code === HOST_REFUSES)
}

function mimeOfName(path: string): string | null {
  const format = formatOfName(path)
  return format && FORMATS[format].mime
}

/** What a picture of a format that the host refuses must not be: failed by itself, where several of this format wait or were
 * refused, and the host names it as the reason. */
function failedAlone(world: World, path: string, row: FileRow | undefined): string | null {
  const { disk, mirrors, history, state } = world
  const { mime, status, code } = history.variations.refuses!
  const isRefused = (file: FileRow | undefined) =>
    file?.state === 'failed' && state.synced.failures.ofUpload(file)?.code === code
  const isOne = ({ path, node }: LivePicture) => {
    if (readTiny(node.bytes)?.mime !== mime || isIgnored(disk, mirrors, path)) return false
    const file = rowAt(state.synced, mirrors, path)
    return file?.state === 'pending' || isRefused(file)
  }
  const isOfFormat = status === 415 && [...livePictures(disk, mirrors)].filter(isOne).length > 2
  return isOfFormat && isRefused(row) ? `${path} has failed, and its format is refused` : null
}

/** The mirror's album is FORBIDDEN: its name is another person's, unlisted, and unique. The key may as well lack a right. */
function isNameTaken(world: World, { path }: LivePicture, row: FileRow): boolean {
  const { host, truth, history, state } = world
  const { albumNames, albumNameTaken } = host.readings
  const isForbidden = albumNames === 'unique' && albumNameTaken === 'FORBIDDEN'
  if (!isForbidden || !history.variations.without.includes('list')) return false
  const [name] = world.albumPathOf(split(path).folder).split('/')
  return (
    state.synced.failures.ofUpload(row)?.code === 'FORBIDDEN' &&
    truth.liveAlbums().some(album => album.parent === null && album.by === 'other' && album.name === name)
  )
}

/** What is only linked must at least look like it, as the host lists it. */
function resembles(
  { state: { synced }, truth, history }: World,
  row: FileRow,
  { bytes }: LivePicture['node'],
): string | null {
  const remote = truth.images.get(synced.images.byId(row.image!)!.remote_id)
  const picture = readTiny(bytes)
  // Listed from step 1 on: its bytes never came. Only a clock that was set hides how young it was.
  if (!remote && history.actions.every(({ kind }) => kind !== 'clockJump'))
    return `${row.name} is linked to an image that is only promised`
  if (!remote || !picture || picture.width === null || picture.height === null) return null
  const listsDimensions = !history.variations.oddSvg || remote.bytes.toString('latin1', 0, 3) !== 'svg'
  // The host may turn a picture as EXIF says.
  const [one, other] = [remote.width ?? 1, remote.height ?? 1]
  const fits =
    !listsDimensions ||
    (one === picture.width && other === picture.height) ||
    (other === picture.width && one === picture.height)
  // Under a name that the host has changed it may be that of another picture.
  const isNamed = remote.name === row.name || history.variations.renames !== null
  return fits && isNamed ? null : `${row.name} is linked to an image of other dimensions`
}

/** Whether a file that failed is tried again by itself. */
function triedAgain({ state: { synced } }: World, { folder, name }: FileRow): boolean {
  const { mirror, path } = synced.folders.byId(folder)!
  const place = path === '' ? name : `${path}/${name}`
  // What is ambiguous waits for a person, however often it is looked at again.
  return synced.summaries
    .failures(1000)
    .some(
      failure =>
        failure.mirror === mirror &&
        failure.path === place &&
        failure.next_attempt_at !== null &&
        failure.code !== 'AMBIGUOUS',
    )
}
