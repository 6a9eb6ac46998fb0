import type { PassEvent } from '../../../src/sync/pass-events.ts'
import { readQuota } from '../../../src/sync/quota/index.ts'
import { codeOf, type Reason, type ReasonCode, reasonIn } from '../../../src/words/reasons.ts'
import { pathOfRow } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'
import type { Moment, State } from './sights.ts'

type Told<Name> = Extract<PassEvent, { event: Name }>

/** Holds when the engine tells this. */
function told<Name extends PassEvent['event']>(
  name: Name,
  holds: (event: Told<Name>, moment: Moment) => boolean = () => true,
): State {
  return { at: `told ${name}`, holds: moment => holds(moment.event as Told<Name>, moment) }
}

/** Holds when a pass has ended, by what is recorded then. */
function pass(holds: (world: World, moment: Moment) => boolean): State {
  return { at: 'pass', holds: moment => holds(moment.world, moment) }
}

/** Holds when something else is seen. */
function seen(at: string, holds: (world: World, moment: Moment) => boolean = () => true): State {
  return { at, holds: moment => holds(moment.world, moment) }
}

/** An upload in doubt is found, after this. */
const found = (what: string) => told('upload_found_out', ({ arrived }, { before }) => arrived && before(what))

/** A picture is sent after this; or after this was told of it. */
const sentAfter = (what: string) => told('picture_uploaded', (_, { before }) => before(what))
const sentAfterTold = (what: string) =>
  told('picture_uploaded', (event, { before }) => before(`told ${what} ${at(event)}`))

/** A scan finds this of a picture, after this was told of it. */
const becomes = (change: string, what: string, holds: (moment: Moment) => boolean = () => true) =>
  told(
    'change_found',
    (event, moment) => event.change === change && moment.before(`told ${what} ${at(event)}`) && holds(moment),
  )

const recorded = (name: 'turned_skip') => pass(({ state }) => state.synced.meta.get(name) !== null)
const deletedAs = (why: string) => told('image_deleted', ({ reason }) => reason === why)
const mended = (finding: string) =>
  seen('audit', ({ auditing }) =>
    auditing.last!.findings.some(({ kind, repaired }) => kind === finding && repaired),
  )

const at = ({ mirror, path }: { mirror: string; path: string }) => `${mirror}/${path}`
const says = (code: ReasonCode) => (event: { message: Reason }) => reasonIn(event.message, code) !== null
const stays = (code: ReasonCode) => told('image_kept', ({ reason }) => reasonIn(reason, code) !== null)
const changes = (code: ReasonCode) => told('change_found', ({ reason }) => codeOf(reason) === code)
const guarded = (code: ReasonCode) => told('mirror_guarded', ({ reason }) => reasonIn(reason, code) !== null)
const stopped = (code: string) => told('uploads_stopped', event => event.code === code)

const audit = (kind: string) =>
  seen('audit', ({ auditing }) => auditing.last!.findings.some(finding => finding.kind === kind))

function lostState(_: unknown, { before }: Moment): boolean {
  return before('does loseState') || before('does restoreState')
}

/** Uploads are under way, or in doubt. */
function inDoubt({ state }: World): boolean {
  return state.synced.journal.openUploads().length > 0
}

function rows({ state, mirrors }: World) {
  return mirrors.flatMap(({ folder }) => state.synced.mirrors.of(folder) ?? [])
}

function anyFlat(world: World): boolean {
  return rows(world).some(({ id }) => world.state.synced.summaries.mirror(id).flat > 0)
}

function held(world: World): number {
  const { escrow } = world.state.synced
  return rows(world).reduce((sum, { id }) => sum + escrow.toDecide(id).length, 0)
}

function isGraceOver(world: World): boolean {
  const due = world.state.synced.escrow.nextDue(
    rows(world).map(({ id }) => id),
    world.machine.wall(),
  )
  return due !== null && due <= (world.state.synced.meta.get('running_ms') ?? 0)
}

function doubts(world: World): number {
  const { folders } = world.state.synced
  return rows(world).reduce(
    (sum, { id, guard_code }) => sum + folders.unknown(id).length + (guard_code === 'ROOT' ? 1 : 0),
    0,
  )
}

/** Bytes whose image waits for its deletion in one mirror lie in another, and wait for quota. */
function movedWithoutQuota(world: World): boolean {
  const { synced } = world.state
  if (readQuota(synced, world.allowance, world.machine.wall()).exhausted === null) return false
  const pending = synced.files.inState('pending').map(file => pathOfRow(synced, file))
  return rows(world).some(({ id, folder }) =>
    synced.escrow.ofMirror(id).some(({ image }) => {
      const hash = synced.images.byId(image)!.hash.toString('hex')
      return pending.some(path => !path.startsWith(`${folder}/`) && world.tree.fileAt(path)?.hash === hash)
    }),
  )
}

/** Seldom states, in which something could go wrong: each run of many histories must see them sometimes. */
export const STATES = {
  // Uploads in doubt.
  'an upload that was served without an answer is found': found('fault send lost'),
  'an upload whose answer was none of the interface is found': found('fault send garbled'),
  'an upload that arrived late is found': found('late send'),
  'an upload that was under way in a crash is found': found('crash in an upload'),
  'an upload never arrived, and its picture is sent again': sentAfterTold('upload_found_out false'),
  'a picture changes while its upload is in doubt': becomes('pending', 'picture_uncertain'),
  'a picture goes while its upload is in doubt': becomes('gone', 'picture_uncertain'),
  'a rule hides a picture whose upload is in doubt': becomes('aside', 'picture_uncertain'),
  'two uploads are in doubt at once': pass(({ state }) => state.synced.journal.openUploads().length > 1),
  'a person has a picture in doubt sent again': told('picture_uploaded', (event, { world }) =>
    world.oracle.words.about(at(event)),
  ),
  'the clock is set while an upload is in doubt': seen('does clockJump', inDoubt),
  'the machine boots while an upload is in doubt': seen('does reboot', inDoubt),
  'an older state is put back while an upload is in doubt': seen('does restoreState', inDoubt),
  'several images can be one picture': told('picture_failed', says('images_alike')),

  // Uploads.
  'a picture changes while it is sent': told('picture_waits', says('picture_changed')),
  'a folder is scanned again while an upload is under way': seen('scans beside', inDoubt),
  'what a scan finds of a picture under way is found again after its upload': seen('left out'),
  'a picture is sent after a scan beside the uploads, while another is under way': told(
    'picture_uploaded',
    (_, { world, before }) => before('scans beside') && inDoubt(world),
  ),
  'a picture is written over while it is read': told('picture_waits', says('file_changed')),
  'half a picture waits for its end': told('picture_waits', says('incomplete')),
  'half a picture stays half': told('picture_failed', says('stays_incomplete')),
  'a picture that failed is sent later': sentAfterTold('picture_failed'),
  'a folder is another one when its picture is to be sent': told('picture_waits', says('folder_replaced')),
  'the quota is used up': stopped('DAILY_LIMIT_REACHED'),
  'only the reserve is left of the quota': told('uploads_stopped', says('reserve_for_new')),
  'the quota is used up, and a picture is sent later': sentAfter('told uploads_stopped DAILY_LIMIT_REACHED'),
  'the storage is full': stopped('STORAGE_LIMIT_REACHED'),
  'the key is refused': stopped('INVALID_API_KEY'),
  'turned pictures are sent without a check': recorded('turned_skip'),
  'two pictures are refused that have not failed': pass(
    ({ state }) => (state.synced.meta.get('refused') ?? []).length > 1,
  ),
  'a format that the host refuses waits as a whole': told('format_refused'),
  'the default album is found': told('default_album_found'),
  'an image of that name is adopted': told('picture_linked'),
  'after a loss of the state a picture is not sent again': told('picture_unchanged', lostState),
  'after a loss of the state a picture is linked': told('picture_linked', lostState),
  'the bytes of a picture are another picture already': told(
    'picture_unchanged',
    ({ compared }) => !compared,
  ),

  // Albums.
  'an album was made without an answer, and pictures go into it': sentAfter('fault create_album lost'),
  'an album arrives late': seen('late create_album'),
  'the creation of an album is in doubt': pass(({ state }) => state.synced.journal.newestCreation() !== null),
  'another person deletes the album of a picture': told(
    'album_created',
    (_, { before }) => before('does otherDeletesAlbum') && before('told album_created'),
  ),
  'a picture lies flat': pass(anyFlat),
  'an unused album is deleted': told('album_deleted'),
  'an unused album holds what another person has put there': pass(({ state }) =>
    state.synced.unusedAlbums.all().some(album => album.state === 'occupied'),
  ),

  // Deletions.
  'an image of a deleted picture is deleted': deletedAs('deleted'),
  'an older version is deleted': deletedAs('superseded'),
  'an image that a rule hides is deleted on request': deletedAs('ignored'),
  'a deletion is served without an answer, and its picture comes back': told(
    'picture_uploaded',
    (event, { before }) => before('fault delete lost') && before(`told change_found gone ${at(event)}`),
  ),
  'a deletion is refused, and done later': told('image_deleted', (_, { before }) =>
    before('fault delete refused'),
  ),
  'deletions are held': told('deletions_held'),
  'half of the held deletions are approved': seen('does approveHalf', world => held(world) > 0),
  'held images are kept by a person': seen('does discard', (_, { before }) => before('told deletions_held')),
  'a picture comes back whose deletion is held': becomes('pending', 'change_found gone', ({ before }) =>
    before('told deletions_held'),
  ),
  'a picture comes back within its grace': becomes(
    'pending',
    'change_found gone',
    ({ world }) => world.history.graceMs > 0,
  ),
  'a deletion waits for a doubt in another mirror': pass(
    world => doubts(world) > 0 && world.mirrors.length > 1 && isGraceOver(world),
  ),
  'an image stays because a picture uses it': stays('in_use'),
  'an image stays because its picture may have moved': stays('may_have_moved'),
  'an image stays because its moved picture is not sent yet': stays('moved_unsent'),
  'an image stays because its picture is there again': stays('file_there_again'),
  'a picture has moved to another mirror while the quota is used up': pass(movedWithoutQuota),

  // Doubts.
  'a root is missing': guarded('root_missing'),
  'a root is another one': guarded('root_other'),
  'a root is an older copy': guarded('root_older'),
  'another folder lacks pictures': guarded('folder_older'),
  'a folder cannot be read': guarded('folder_unreadable'),
  'a folder has lost its mount': guarded('folder_unmounted'),
  'a folder has lost all its pictures': guarded('folder_emptied'),
  'an image stays because its folder is restored': stays('folder_restored'),
  'an ignore file has just vanished': guarded('ignore_file_vanished'),
  'an ignore file cannot be relied on': guarded('ignore_file_unreliable'),
  'two doubts at once': pass(world => doubts(world) > 1),
  'a person trusts a root that is another one': pass(({ doubts }) => doubts.trusted.size > 0),
  'a picture comes back after a doubt': changes('there_again'),

  // Processes and people.
  'the process is killed with an upload under way': seen('crash in an upload'),
  'the process is killed with an album under way': seen('crash in the creation of an album'),
  'the process is killed with a deletion under way': seen('crash in a deletion'),
  'the process is killed in an audit': seen('ends killed', ({ auditing }) => auditing.isUnderWay),
  'the process is killed twice with something under way': seen(
    'ends killed',
    (world, { before }) => before('crash in an upload') && inDoubt(world),
  ),
  'the process is asked to end with an upload under way': seen(
    'does end',
    world => world.passes.isUnderWay && inDoubt(world),
  ),
  'a paused albumd finds something': told('change_found', (_, { world }) =>
    world.pausing.holdsAt(world.machine.wall()),
  ),
  'a person waits for a pass that uploads': seen(
    'does pause',
    world => world.passes.isUnderWay && inDoubt(world),
  ),

  // Audits.
  'an audit finds that an image is gone': audit('gone'),
  'an audit finds an image of others': audit('foreign'),
  'an audit finds a deleted image': audit('twice'),
  'a repair has a picture sent again': mended('gone'),
  'a repair deletes an image': mended('twice'),
  'a repair withholds deletions': seen('audit', ({ auditing }) => auditing.last!.withheld > 0),

  // Machines.
  "an album is another machine's": seen('out'),
  'nobody knows whose an album is': pass(
    world => world.seat?.claims != null && world.seat.claims.doubt() !== null,
  ),
} as const satisfies Record<string, State>
