import { albumName } from '../../../src/sync/album.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import type { FileRow } from '../../../src/synced/tables/files.ts'
import { isIgnored, type LivePicture } from '../disk/live-pictures.ts'
import { readTiny } from '../disk/tiny-picture.ts'
import { split, versionOfHash } from '../disk/tree.ts'
import { pathOfRow, rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'
import { type Alteration, altered } from '../host/alterations.ts'
import { pathOfAlbum, type TrueImage } from '../host/host-truth.ts'
import { listedName } from '../host/listing-view.ts'

/** A file in one of these may be the one that moved away from an image of its size. */
const OPEN: ReadonlySet<string> = new Set(['failed', 'linked', 'uncertain'])

/** A file in one of these keeps its image. */
const HOLDING: ReadonlySet<string> = new Set(['failed', 'uncertain', 'kept'])

/** What stands for nothing any more. `pruned`: what rules hide needs no image either. */
export function needless(
  world: World,
  mirrors: readonly MirrorPolicy[],
  image: TrueImage,
  pictures: readonly LivePicture[],
  pruned: boolean,
): string | null {
  const { oracle, history, disk } = world
  const { without } = history.variations
  if (image.by === 'other' || oracle.stateLost || oracle.kept.has(image.id)) return null
  if (oracle.words.mayHaveLeft(image) || isKeptDeleted(world, image)) return null
  if (without.includes('delete') || without.includes('list')) return null
  const source = image.source!
  const mirror = mirrors.find(({ folder }) => source.startsWith(`${folder}/`))
  if (!mirror || mirror.deletions === 'keep') return null
  if (pictures.some(picture => standsFor(world, image, picture))) return null
  const given = pruned && isIgnored(disk, world.mirrors, source)
  if (staysByRecord(world, image, given) || staysForItsPlace(world, image, pictures, given)) return null
  // Where equal bytes have one id, a backup may keep it for a version that it had.
  const isBackedUp = world.mirrors.some(
    ({ folder, deletions }) =>
      deletions === 'keep' &&
      [...disk.paths()].some(path => path.startsWith(`${folder}/`) && disk.everHeld(path, image.hash)),
  )
  if (history.variations.oneId && isBackedUp) return null
  // What failed, was only linked, or is of a format that the host refuses, may be what moved away from there.
  const { refuses } = history.variations
  const isUnread = ({ bytes }: LivePicture['node']) => !!refuses && readTiny(bytes)?.mime === refuses.mime
  // It stays until the new version is taken.
  if (pictures.some(({ path, node }) => path === source && isUnread(node))) return null
  const waits = pictures.some(
    ({ path, node }) =>
      (node.bytes.length === image.bytes.length || node.hash === image.hash) &&
      (isUnread(node) || OPEN.has(rowOf(world, path)?.state ?? '')),
  )
  if (waits) return null
  // What became of it can't be told: another image looks like it.
  if (world.state.synced.journal.openUploads().some(({ hash }) => versionOfHash(hash) === image.hash))
    return null
  const where = `${pathOfAlbum(image.album)}/${image.name}`
  return `image ${image.id.slice(0, 6)} (${where}) stands for nothing`
}

/** What is hidden, and what can't be uploaded, keeps its last image. `given`: a person gave up what is hidden there. */
function staysForItsPlace(
  world: World,
  image: TrueImage,
  pictures: readonly LivePicture[],
  given: boolean,
): boolean {
  const source = image.source!
  const there = world.disk.find(source)?.node
  // No rule hides a link: it is left out for what it is. And what came since then, hidden, has no record that could be pruned.
  const isSince = there?.kind === 'file' && there.stampedAt > image.at
  if (given) return there?.kind === 'link' || (isSince && !rowOf(world, source))
  if (isIgnored(world.disk, world.mirrors, source) || rowOf(world, source)?.state === 'hidden') return true
  return there !== undefined && there.kind !== 'folder' && !pictures.some(({ path }) => path === source)
}

/** Only an audit tells that the host still has what albumd deleted. It deletes a few, and none while others are in doubt. */
function isKeptDeleted(
  { oracle, auditing, history, state: { synced } }: World,
  { id, keptDeleted, album }: TrueImage,
): boolean {
  // An upload that came late, and of which nobody heard, was answered with the id of what albumd deleted and the host kept.
  const isUnheard =
    history.variations.oneId && synced.deleted.at(id) !== undefined && !synced.images.byRemoteId(id)
  const mayDelete = auditing.last?.withheld === 0 && synced.journal.openUploads().length === 0
  const remoteIds = synced.audit.albums().map(id => (id === null ? null : synced.albums.byId(id)!.remote_id))
  // By a clock that was set an image may have come after albumd deleted one of its id: then it is another's.
  const isTimed = history.actions.every(({ kind }) => kind !== 'clockJump')
  const mustBeSeen = isTimed && history.variations.blinks === null && remoteIds.includes(album?.id ?? null)
  return (keptDeleted || isUnheard) && !(oracle.mended && mayDelete && mustBeSeen)
}

/** Whether albumd has a reason of its own to leave it there. */
function staysByRecord(
  { state: { synced }, disk, mirrors, seat }: World,
  { id }: TrueImage,
  pruned: boolean,
): boolean {
  const record = synced.images.byRemoteId(id)
  if (!record) return false
  // It was found in an album that both machines need, and may be the other machine's.
  if (seat && record.proof !== 'uploaded' && !seat.claims?.isOwn(albumName(synced, record.album))) return true
  // A picture of a backup stood on it.
  if (record.kept === 1) return true
  // It was only linked, and nothing has shown how to compare it: it waits for a person's word.
  if (synced.escrow.of(record.id)?.state === 'unproved') return true
  // One image may stand for several places, and one of them may be set aside, or keep it until its next version is taken.
  const isPruned = (file: FileRow) => pruned && isIgnored(disk, mirrors, pathOfRow(synced, file))
  return synced.files
    .onImage(record.id)
    .some(file => HOLDING.has(file.state) || (file.state === 'hidden' && !isPruned(file)))
}

function rowOf({ state: { synced }, mirrors }: World, path: string): FileRow | undefined {
  return rowAt(synced, mirrors, path)
}

/** Whether a picture lies in its album, as far as the records tell, because the account's plan has albums by now. */
function isInAlbum(world: World, path: string): boolean {
  const row = world.host.makesAlbums ? rowOf(world, path) : undefined
  return row?.state === 'synced' && row.flat === 0
}

function isRecordedFor(world: World, { id }: TrueImage, path: string): boolean {
  const used = rowOf(world, path)?.image ?? null
  return used !== null && world.state.synced.images.byId(used)?.remote_id === id
}

/** Whether an image may be taken for that of an edited picture: the host takes out what differs, or its state is lost, what differs
 * is none of the image data, and no other picture beside it shows that the host keeps that. */
function mayBeTaken(world: World, image: TrueImage, { bytes }: LivePicture['node']): boolean {
  const { alters } = world.history.variations
  const isAlike = (how: Alteration | null) => altered(image.bytes, how).equals(altered(bytes, how))
  return isAlike(alters) || (world.oracle.stateLost && isAlike('strip') && !isToldByOthers(world, image, 1))
}

/** Whether others beside an image show what the host makes of them. Of those that are compared at once, none shows the others
 * anything. */
export function isToldByOthers(
  { truth, disk, history }: Pick<World, 'truth' | 'disk' | 'history'>,
  image: TrueImage,
  least: number,
): boolean {
  const { namesBase, delivery, renames } = history.variations
  const mime = readTiny(image.bytes)?.mime
  const others = truth.live().filter(({ source, hash, bytes, album, by }) => {
    const there = source === null ? undefined : disk.find(source)?.node
    const isWhole = there?.kind === 'file' && there.hash === hash && source !== image.source
    const isIts = by !== 'other' && album === image.album && readTiny(bytes)?.mime === mime
    return isWhole && isIts && !altered(bytes, 'strip').equals(bytes)
  })
  const isFound = namesBase && delivery === 'id' && renames === null
  return isFound && history.concurrency === 1 && others.length >= least
}

/** Whether an image is the one of a picture, as far as its bytes and its place tell. */
export function standsFor(world: World, image: TrueImage, { path, node }: LivePicture): boolean {
  const { variations } = world.history
  if (image.hash !== node.hash && !mayBeTaken(world, image, node)) return false
  const { oneId, without, depthMax, defaultAlbum, readings } = variations
  if (oneId || (image.misplaced && image.source === path)) return true
  const { folder, name } = split(path)
  // Listed under one name, an image of these bytes may have been taken for either picture's.
  const isListedSo = listedName(image.name, variations) === listedName(name, variations)
  if (image.name !== name && !(isListedSo && isRecordedFor(world, image, path))) return false
  const anywhere =
    (without.includes('create_album') && !isInAlbum(world, path)) ||
    // An album of this name may be there unseen, and no other may bear the name.
    ((without.includes('list') || world.host.faults.listRefused) && readings.albumNames === 'unique') ||
    depthMax < 10 ||
    defaultAlbum !== null ||
    world.host.faults.albumRefused
  const wanted = world.albumPathOf(folder)
  return anywhere || [pathOfAlbum(image.album), world.alike.takenFor(image.album)].includes(wanted)
}
