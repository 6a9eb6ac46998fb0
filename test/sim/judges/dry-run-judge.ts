import {
  type Operation,
  type Planned,
  rehearse,
  unlikeRecorded,
} from '../../../src/daemon/engine/rehearsal.ts'
import { blocksBefore } from '../../../src/daemon/state/last-process.ts'
import { lookAtFolder } from '../../../src/local/look.ts'
import type { OpenPicture } from '../../../src/local/picture-file.ts'
import type { Clock } from '../../../src/protocol/clock.ts'
import { remedyOfCode } from '../../../src/remote/failures.ts'
import { ALONE } from '../../../src/sync/claims.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import type { PassEvent } from '../../../src/sync/pass-events.ts'
import { readQuota } from '../../../src/sync/quota/index.ts'
import type { EscrowRow } from '../../../src/synced/tables/escrow.ts'
import { because, codeOf, type Reason, WHY_IN_ESCROW } from '../../../src/words/reasons.ts'
import { diskFor, Looks, openerFor } from '../disk/disk-port.ts'
import { tinyReader } from '../disk/real-picture.ts'
import { hashOf } from '../disk/tree.ts'
import { memoryAtStart, openedAnew, settingsOf } from '../engine/compose.ts'
import { openStateKit, type StateKit } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'
import { endTrouble } from './convergence.ts'

/** By then, what is being written is written. */
const WRITTEN_MS = 20_000

const NEVER = new AbortController().signal

/** Records that are thrown away. One serves all dry runs. */
let copy: StateKit | null = null

/** What a dry run says of the next pass of a new process. Nothing changes by that. */
async function rehearsed(world: World): Promise<Planned[]> {
  const { allowance, disk, history, machine, mirrors, saved, state } = world
  copy ??= openStateKit()
  copy.restore(state.save())
  const { commitNow } = copy.synced
  const synced: EngineContext['synced'] = { ...copy.synced, commit: async change => commitNow(change) }
  let slept = 0
  const clock: Clock = {
    wall: () => machine.wall() + slept,
    monotonic: () => machine.monotonic() + slept,
    async sleep(ms) {
      slept += Math.ceil(ms)
    },
  }
  const looks = new Looks(() => 0)
  const view = diskFor(disk, looks, clock.wall, () => {})
  const { endings } = history.setting
  const open = openerFor(
    disk,
    clock.wall,
    async () => {},
    () => true,
    { looks, sources: new WeakMap() },
    endings,
  )
  const isUnlike = unlikeRecorded(synced)
  const running = openedAnew(world, synced, saved.knowsLess)
  const context: Parameters<typeof rehearse>[0] = {
    ...settingsOf(world),
    ...memoryAtStart(synced, clock),
    synced,
    disk: view,
    clock,
    claims: ALONE,
    lookAt: root => async batch => batch.map(folder => lookAtFolder(view, root, folder)),
    pictures: tinyReader,
    maker: world.stripping.maker(async () => {}),
    async openPicture(root, path, cut) {
      const picture = await open(root, path, cut)
      const full = `${root}/${path}`
      return isUnlike(full, picture.look.size) ? unread(picture, full) : picture
    },
    running: () => running() + slept,
  }
  const said: Planned[] = []
  const pruneIgnored = world.pruning.isAsked
  await rehearse(
    context,
    {
      mirrors: mirrors.map(mirror => ({ ...mirror, pruneIgnored })),
      interruption: { stop: NEVER, cut: NEVER },
    },
    {
      blocks: blocksBefore(synced, allowance.plan, clock),
      say: planned => said.push(planned),
      waitOf: entry => ({ why: whyLeft(entry), until: null }),
      note() {},
    },
  )
  return said
}

/** As the opener of a dry run, which does not read the whole picture. */
function unread(open: OpenPicture, at: string): OpenPicture {
  return { ...open, hash: Buffer.from(hashOf(Buffer.from(`${at} ${JSON.stringify(open.look)}`)), 'hex') }
}

/** By what they concern, what is done with it or why not. */
type Outcome = Map<string, string[]>

/** The pass after a dry run, in a new process, must do as said. Returns how much was said; null: the host knows more. */
export async function mustDoAsSaid(world: World, number: number): Promise<number | null> {
  world.endProcess()
  await world.rest(WRITTEN_MS)
  endTrouble(world)
  const isForetold = !knowsMore(world)
  const before = imagesOf(world)
  // A dry run reads the config that the pass reads.
  world.stripping.passBegins(number)
  const planned = await rehearsed(world)
  world.told = []
  await world.passes.run(number, true)
  const [said, done] = [planned, whatHappened(world, world.told, before)].map(outcomeOf) as [Outcome, Outcome]
  // Another person may have uploaded the very same picture since.
  const found = new Set(
    world.told.flatMap(told =>
      told.event === 'picture_unchanged' || told.event === 'picture_linked'
        ? `${told.mirror}/${told.path}`
        : [],
    ),
  )
  world.told = null
  if (!isForetold) return null
  const after = imagesOf(world)
  for (const key of new Set([...said.keys(), ...done.keys()])) {
    const [will, has] = [said.get(key), done.get(key)]
    if (found.has(key) && before.get(key) !== after.get(key)) continue
    if (String(will) !== String(has))
      world.oracle.report('does-as-said', `${key}: said ${will ?? 'nothing'}, done ${has ?? 'nothing'}`)
  }
  return planned.length
}

function outcomeOf(all: readonly Planned[]): Outcome {
  const grouped = Map.groupBy(all, planned => {
    const { mirror, path } = planned
    return `${mirror ?? 'album'}/${path}${'cdn_url' in planned ? ' (image)' : ''}`
  })
  const whatOf = ({ operation, why }: Planned) =>
    operation === 'upload' || operation === 'replace' ? operation : `${operation}, ${codeOf(why)}`
  return new Map([...grouped].map(([key, planned]) => [key, planned.map(whatOf).sort()]))
}

/** Whether the host knows something that the records don't, or answers otherwise than they say. */
function knowsMore({ host, truth, allowance, machine, state: { synced } }: World): boolean {
  const { account, albums, images, journal } = synced
  const { depthMax, goneAs, keepsIds, oneId, refuses, tellsImage, without } = host.variations
  const live = new Set(truth.liveAlbums().map(({ id }) => id))
  const recorded = albums.all()
  return (
    journal.open().length > 0 ||
    images.linked().length > 0 ||
    account.blocks().some(({ code }) => isOfAccount(code)) ||
    readQuota(synced, allowance, machine.wall()).exhausted !== null ||
    without.length > 0 ||
    depthMax < 10 ||
    oneId ||
    keepsIds ||
    !tellsImage ||
    refuses !== null ||
    truth.live().some(({ id }) => !images.byRemoteId(id)) ||
    // It is refused to delete what others have deleted, until a walk has shown that it is gone.
    (goneAs !== null && [...truth.images.values()].some(({ id, gone }) => gone && images.byRemoteId(id))) ||
    [null, ...live].some(album => host.promised(album).length > 0) ||
    recorded.length !== live.size ||
    recorded.some(({ remote_id }) => !live.has(remote_id))
  )
}

/** Of an outage nothing is foretold: it is over, or it is not. */
function isOfAccount(code: string): boolean {
  const remedy = remedyOfCode(code)
  return remedy === 'plan' || remedy === 'storage' || remedy === 'key' || remedy === 'refused_by_node'
}

/** The image that stands at each path. */
function imagesOf({ mirrors, state: { synced } }: World): ReadonlyMap<string, number> {
  const all = mirrors.flatMap(({ folder }) => {
    const row = synced.mirrors.of(folder)
    if (!row) return []
    return [...synced.files.below(row.id, '')].map(({ path, image }) => [`${folder}/${path}`, image] as const)
  })
  return new Map(all.flatMap(([path, image]) => (image === null ? [] : [[path, image]])))
}

/** The same of the pass itself, by what it has told and by what it leaves. `before`: see `imagesOf`. */
function whatHappened(
  world: World,
  told: readonly PassEvent[],
  before: ReadonlyMap<string, number>,
): Planned[] {
  const after = imagesOf(world)
  const done: Planned[] = []
  /** By place, the last word on what may still go on. */
  const left = new Map<string, Planned>()
  for (const planned of told.flatMap(event => plannedBy(event) ?? [])) {
    const { mirror, operation, path } = planned
    const at = `${mirror}/${path}`
    if (operation === 'keep') left.set(`${at} (image)`, planned)
    else if (operation === 'wait' || operation === 'fail') left.set(at, planned)
    else if (operation === 'upload') {
      left.delete(at)
      const old = before.get(at)
      const isReplaced = old !== undefined && old !== after.get(at) && !isLeft(old, world)
      done.push(isReplaced ? { ...planned, operation: 'replace' } : planned)
    } else done.push(planned)
  }
  for (const entry of leftInEscrow(world)) {
    const key = `${entry.mirror}/${entry.path} (image)`
    done.push({ ...entry, why: left.get(key)?.why ?? entry.why })
    left.delete(key)
  }
  return [...done, ...left.values()]
}

function leftInEscrow({ mirrors, state: { synced } }: World): Planned[] {
  return mirrors.flatMap(({ folder: mirror }) =>
    synced.escrow.ofMirror(synced.mirrors.of(mirror)?.id ?? 0).map(entry => {
      const { path, state } = entry
      const operation = state === 'held' || state === 'unproved' ? 'hold' : 'wait'
      return { operation, mirror, path, why: whyLeft(entry), cdn_url: null }
    }),
  )
}

function whyLeft({ reason, many_until, why }: EscrowRow): Reason {
  return (many_until === null ? null : why) ?? WHY_IN_ESCROW[reason]
}

/** Whether an image that a picture does not use any more stays for good. */
function isLeft(image: number, { state: { synced } }: World): boolean {
  return synced.images.byId(image) !== undefined && !synced.escrow.of(image)
}

function plannedBy(told: PassEvent): Planned | null {
  const { mirror, path } = { mirror: null, path: '', ...told }
  const planned = (operation: Operation, why: Reason): Planned => ({ operation, mirror, path, why })
  switch (told.event) {
    case 'picture_uploaded':
      return planned('upload', because('new'))
    case 'picture_linked':
      return planned('link', because('linked_by_name'))
    case 'picture_failed':
      return planned('fail', told.message)
    case 'picture_waits':
      return planned('wait', told.message)
    // It was sent. An answer without an id is what such a host says of each upload, and later passes find out the rest.
    case 'picture_uncertain':
      return codeOf(told.message) === 'answer_without_id'
        ? planned('upload', because('new'))
        : planned('wait', told.message)
    case 'image_deleted': {
      const { moved_to: to, reason } = told
      const why = to === null ? WHY_IN_ESCROW[reason] : because('picture_moved', { path: to })
      return { ...planned('delete', why), cdn_url: null }
    }
    case 'image_kept':
      return planned('keep', told.reason)
    case 'album_created':
      return { ...planned('use_album', because('first_needs_album')), path: told.album }
    case 'album_deleted':
      return { ...planned('delete_album', because('album_unused')), path: told.album }
    case 'mirror_guarded':
      return planned('none', told.reason)
    default:
      return null
  }
}
