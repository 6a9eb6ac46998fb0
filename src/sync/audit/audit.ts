import { DAY_MS } from '../../protocol/clock.ts'
import type { ListedImage } from '../../protocol/records.ts'
import { listedAltered } from '../../records/images.ts'
import { gapEnded } from '../../records/versions.ts'
import { isOfThisOne } from '../../remote/failures.ts'
import { type HostFailure, hostWith, type ImageHost, type Outcome } from '../../remote/host.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { AlbumRow } from '../../synced/tables/albums.ts'
import type { Finding } from '../../synced/tables/audit.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { albumName, recordedAlbums } from '../album.ts'
import { type FileAges, mayArriveFor } from '../clock.ts'
import type { AlbumPort, DeliveryPort, HostPort } from '../context.ts'
import { learnAgain, lookAt, mayHaveSent, pictureOf } from '../delivered/index.ts'
import { showsItsOwn, type Walk, type WholeWalk, walkEverything, walkWhole } from '../listing/index.ts'
import type { Interruption } from '../pass-request.ts'
import { askFormatsAgain } from '../uploads/index.ts'
import { type AlbumComparison, type AuditStart, compareAlbum, isLeftOver, recordsOf } from './audit-album.ts'

/** What an audit works with. It asks how old records are. */
export interface AuditContext extends AlbumPort, DeliveryPort {
  ages: FileAges
}

export interface AuditRun extends AuditContext {
  /** The least milliseconds between the starts of two requests, so that other work gets its share of the rate. */
  gapMs: number
  /** Called before each album is looked at. */
  progress: (done: number, albums: number) => void
}

export interface AuditReport {
  /** How many albums were compared, also by the earlier run that this one continued. */
  albums: number
  /** The albums that could not be compared, by their paths. */
  skipped: { album: string; reason: Reason }[]
  /** Whether all albums were looked at. When it is false, the next run continues with the rest. */
  finished: boolean
  /** The failure of the host that ended the run early, or null. */
  stopped: HostFailure | null
}

/** An audit that began longer ago than this is not continued. A new audit begins instead. */
const STALE_MS = 7 * DAY_MS

/** Walks each album that holds recorded images, is albumd's, or is or lies below a mirror's. Nothing may upload meanwhile. */
export async function runAudit(run: AuditRun, { stop, cut }: Interruption): Promise<AuditReport> {
  const { synced, clock } = run
  const began = await begin(run, cut)
  const host = sparing(run)
  const below = albumsBelowMirrors(synced)
  const albums = [...new Set([...synced.audit.albums(), ...below])]
  const open = albums.filter(album => !synced.audit.isDone(album))
  const report: AuditReport = {
    albums: albums.length - open.length,
    skipped: [],
    finished: false,
    stopped: null,
  }
  /** The ids of images that their own album did not list, even when it lists them by now. */
  const lacked = new Set<string>()
  const stoppedBy = async (failure: HostFailure) => {
    if (failure.remedy === 'cancelled') return report
    await synced.commit(tx => tx.meta.set('audit_stopped', true))
    return { ...report, stopped: failure }
  }
  for (const album of open) {
    run.progress(report.albums + report.skipped.length, albums.length)
    if (stop.aborted) return report
    let look = await lookAtAlbum({ ...run, host }, album, cut)
    // Outside the mirrors' albums, unrecorded albums are another person's business, and not looked into.
    const others =
      look.kind === 'whole' && below.has(album)
        ? await foreignAlbums({ ...run, host }, album, look.albums, cut)
        : NO_FINDINGS
    if (!others.ok) look = { kind: 'failed', failure: others.failure }
    if (look.kind === 'failed') return stoppedBy(look.failure)
    if (look.kind === 'unknown') {
      report.skipped.push({ album: albumName(synced, album), reason: look.reason })
      continue
    }
    const compared = compareAlbum(look.images, recordsOf(synced, album, began, clock.wall()))
    const gone = await notDelivered(run, compared.missing, cut)
    if (cut.aborted) return report
    for (const { remote_id } of compared.missing) lacked.add(remote_id)
    await synced.commit(tx => {
      tx.audit.forgetFindings(album)
      record(tx, album, { ...compared, missing: gone }, lacked)
      if (others.ok) for (const finding of others.value) tx.audit.put(finding)
      tx.audit.done(album, clock.wall())
    })
    report.albums++
  }
  const unknown = await inUnknownAlbums({ ...run, host }, cut)
  if (!unknown.ok) return stoppedBy(unknown.failure)
  await synced.commit(tx => {
    finish(tx, albums, clock.wall())
    for (const finding of unknown.value) tx.audit.put(finding)
  })
  return { ...report, finished: true }
}

const NO_FINDINGS: Outcome<Finding[]> = { ok: true, value: [] }

async function begin(context: AuditContext, signal: AbortSignal): Promise<AuditStart> {
  const { synced, clock } = context
  const { images, meta, commit } = synced
  const now = clock.wall()
  if (meta.get('audit_stopped')) await commit(tx => tx.meta.clear('audit_stopped'))
  const before = meta.get('audit_began') ?? Number.NaN
  // A recorded start in the future means that the clock was set back. A new audit begins then.
  if (before <= now && now - before < STALE_MS) return { at: before, newest: meta.get('audit_newest') ?? 0 }
  await learnAgain(context, signal)
  const newest = images.latest()?.id ?? 0
  await commit(tx => {
    tx.audit.forgetDone()
    tx.meta.set('audit_began', now)
    tx.meta.set('audit_newest', newest)
  })
  return { at: now, newest }
}

function finish(tx: Tx, albums: readonly (number | null)[], now: number): void {
  const { audit, meta } = tx
  for (const album of albums) if (!audit.isDone(album)) audit.dropMovedFrom(album)
  audit.keepFindings(JSON.stringify(albums))
  audit.dropMoot(meta.get('audit_began') ?? now)
  audit.forgetDone()
  meta.clear('audit_began')
  meta.clear('audit_newest')
  meta.set('audit_ended', now)
  askFormatsAgain(tx)
  gapEnded(tx, now)
}

/** The host, which gets a request for a listing at most once in `gapMs`. The gate alone would let an audit use the whole rate. */
function sparing({ host, clock, gapMs }: AuditRun): ImageHost {
  let next = Number.NEGATIVE_INFINITY
  return hostWith(host, {
    async list(album, page, signal) {
      const wait = next - clock.monotonic()
      if (wait > 0) await clock.sleep(wait, signal)
      next = clock.monotonic() + gapMs
      return host.list(album, page, signal)
    },
  })
}

/** The images that the host does not deliver. Only young ones are fetched, because only those may be listed late. Any picture at
 * its address may be the image: a host may encode anew. */
export async function notDelivered(
  context: AuditContext,
  images: readonly ImageRow[],
  signal: AbortSignal,
): Promise<ImageRow[]> {
  const gone: ImageRow[] = []
  for (const image of images) {
    const asked = youngFor(context, image) > 0 && image.cdn_url
    const looked = asked && (await lookAt(context, asked, pictureOf(context.synced, image), signal))
    if (!looked || looked.kind === 'unknown') gone.push(image)
  }
  return gone
}

/** How many milliseconds longer the host may be late to list an image. 0: an image that is not listed is not there. */
function youngFor(
  { ages, clock, credentialLifetimeMs }: Omit<AuditContext, 'synced'>,
  { recorded_at }: ImageRow,
): number {
  return Math.max(0, credentialLifetimeMs - ages.since(recorded_at * 1000, clock))
}

/** For how many milliseconds nobody can tell whether an unlisted image is gone: it is young and has no address to fetch. */
export function unsureFor(context: Omit<AuditContext, 'synced'>, image: ImageRow): number {
  return image.cdn_url === null ? youngFor(context, image) : 0
}

function record(tx: Tx, album: number | null, compared: AlbumComparison, lacked: ReadonlySet<string>): void {
  const { audit, images } = tx
  for (const { remote_id } of compared.inPlace) audit.remove('changed', remote_id)
  for (const finding of compared.findings) audit.put(finding)
  for (const each of compared.altered) listedAltered(tx, each)
  // An image that this audit has found in another album is not missing.
  for (const { id, remote_id, name } of compared.missing) {
    const instead = compared.instead.get(id)
    const detail = instead === undefined ? because('not_listed') : because('listed_instead', { id: instead })
    if (!audit.isElsewhere(remote_id)) audit.put({ kind: 'gone', remote_id, album, name, detail })
  }
  for (const finding of compared.elsewhere) recordMoved(finding)

  /** Records that an album lists an image that is recorded in another one. Records nothing where both list it. */
  function recordMoved(finding: Finding): void {
    const home = images.byRemoteId(finding.remote_id)!.album
    if (audit.isDone(home) && !lacked.has(finding.remote_id) && !audit.has('gone', finding.remote_id)) return
    audit.remove('gone', finding.remote_id)
    audit.put(finding)
  }
}

/** What the host shows of an album. unknown: nothing is proved. failed: the host can't be asked about other albums either. */
export type AlbumLook =
  /** `atOnce`: the first walk was complete, so no incomplete walk lies between the look before and this one. */
  | { kind: 'whole'; images: Walk['images']; albums: Walk['albums']; atOnce: boolean }
  | { kind: 'unknown'; reason: Reason }
  | { kind: 'failed'; failure: HostFailure }

/** Walks an album. Null: the root, or all albums while the default album is not known. An album that is gone is empty. */
export async function lookAtAlbum(
  context: AuditContext,
  album: number | null,
  signal: AbortSignal,
): Promise<AlbumLook> {
  if (album === null && context.synced.meta.get('default_album') !== '')
    return lookEverywhere(context, signal)
  const row = album === null ? null : context.synced.albums.byId(album)!
  const walk = await walkWhole(context.host, row?.remote_id ?? null, signal)
  const shown = lookOf(walk, context.synced.images.inAlbum(album))
  if (!row || (walk.ok ? showsItsOwn(context.synced, row, walk.value) : walk.failure.remedy !== 'gone'))
    return shown
  const look = await lookForAlbum(context, row, signal)
  return walk.ok && look.kind === 'unknown' ? shown : look
}

/** For an account whose default album (§4.1) is not known: the images that the root lists, and those recorded there, wherever
 * they are listed. */
async function lookEverywhere({ synced, host }: HostPort, signal: AbortSignal): Promise<AlbumLook> {
  const recorded = synced.images.inAlbum(null)
  const look = lookOf(await walkEverything(host, signal), recorded)
  if (look.kind !== 'whole') return look
  const inRoot = new Set(recorded.map(({ remote_id }) => remote_id))
  const images = look.images.filter(({ id, album }) => album === null || inRoot.has(id))
  return { ...look, images }
}

/** What walks of an album show. It is `whole` too when all `recorded` images are listed, whatever the host counts. */
export function lookOf(walk: Outcome<WholeWalk>, recorded: readonly ImageRow[] | null = null): AlbumLook {
  if (!walk.ok) {
    const { failure } = walk
    return isSkipped(failure) ? { kind: 'unknown', reason: failure.message } : { kind: 'failed', failure }
  }
  const { images, albums, complete, settled, atOnce } = walk.value
  const shown = new Set(images.map(({ id }) => id))
  const showsRecorded = settled && recorded?.every(({ remote_id }) => shown.has(remote_id)) === true
  return complete || showsRecorded ? { kind: 'whole', images, albums, atOnce } : listingChanges
}

/** Whether the album is gone or not shown, and others can be asked about. */
function isSkipped(failure: HostFailure): boolean {
  return isOfThisOne(failure) || failure.remedy === 'gone'
}

export const listingChanges = {
  kind: 'unknown',
  reason: because('listing_changed'),
} as const

/** Looks whether an album is gone: its parent does not list it, or is gone too. */
async function lookForAlbum(
  context: AuditContext,
  { remote_id, parent, made_at }: AlbumRow,
  signal: AbortSignal,
): Promise<AlbumLook> {
  const { synced, host, clock, contents, credentialLifetimeMs } = context
  const unknown = { kind: 'unknown', reason: because('listed_not_known') } as const
  // The host may be late to list an album that was created a moment ago.
  if (made_at !== null && clock.monotonic() - made_at < mayArriveFor(credentialLifetimeMs)) return unknown
  const above = parent === null ? null : synced.albums.byId(parent)!
  const walk = await walkWhole(host, above?.remote_id ?? null, signal)
  if (!walk.ok && walk.failure.remedy === 'gone' && above) return lookForAlbum(context, above, signal)
  const look = lookOf(walk)
  if (look.kind !== 'whole') return look
  const listed = walk.ok && walk.value.albums.some(({ id }) => id === remote_id)
  if (listed) return unknown
  // The next upload asks again whether the album is listed.
  contents.listed.delete(remote_id)
  return { ...look, images: [], albums: [] }
}

/** The recorded albums that are a mirror's album or lie below one. Null is the root. */
export function albumsBelowMirrors(synced: Synced): Set<number | null> {
  const found = new Set<number | null>()
  for (const { album } of synced.mirrors.all()) {
    const path = namesIn(album)
    const top = path.length === 0 ? null : recordedAlbums(synced, path).at(-1)
    if (top !== undefined) found.add(top === null ? null : top.id)
  }
  const below = Map.groupBy(synced.albums.all(), ({ parent }) => parent)
  // The loop also visits the albums that it adds.
  for (const album of found) for (const { id } of below.get(album) ?? []) found.add(id)
  return found
}

/** The images of unrecorded albums in an album and below it. Such an album is another person's, or its folder was renamed while
 * the state was lost. `listed`: the albums that the walk of `album` has shown. */
export async function foreignAlbums(
  { synced, host }: HostPort,
  album: number | null,
  listed: Walk['albums'],
  signal: AbortSignal,
): Promise<Outcome<Finding[]>> {
  const findings: Finding[] = []
  const parent = album === null ? null : synced.albums.byId(album)!.remote_id
  for (const top of listed) {
    if (top.parent !== parent || synced.albums.byRemoteId(top.id)) continue
    const walk = await walkEverything(host, signal, top.id)
    if (!walk.ok && isSkipped(walk.failure)) continue
    if (!walk.ok) return walk
    const paths = new Map([[top.id, top.name]])
    for (const { id, name, parent: above } of walk.value.albums) paths.set(id, `${paths.get(above!)}/${name}`)
    const uploads = synced.journal.openUploads()
    for (const image of walk.value.images.filter(image => isForeign(synced, uploads, image))) {
      const name = `${paths.get(image.album!)}/${image.name ?? ''}`
      findings.push({
        kind: 'foreign',
        remote_id: image.id,
        album,
        name,
        detail: because('album_not_recorded'),
      })
    }
  }
  return { ok: true, value: findings }
}

/** The images of mirrors' albums that are not recorded: an older copy of the records was put back, and the folder is empty. */
async function inUnknownAlbums(context: HostPort, signal: AbortSignal): Promise<Outcome<Finding[]>> {
  const { synced, host } = context
  const findings: Finding[] = []
  for (const mirror of synced.mirrors.all()) {
    const path = namesIn(mirror.album)
    const known = recordedAlbums(synced, path)
    const depth = known.indexOf(undefined)
    if (depth < 0) continue
    const above = known[depth - 1] ?? null
    const walk = await walkWhole(host, above?.remote_id ?? null, signal)
    if (!walk.ok && isSkipped(walk.failure)) continue
    if (!walk.ok) return walk
    const named = walk.value.albums.filter(({ name }) => name === path[depth])
    const found = await foreignAlbums(context, above?.id ?? null, named, signal)
    if (!found.ok) return found
    const below = `${path.slice(depth).join('/')}/`
    findings.push(...found.value.filter(({ name }) => name.startsWith(below)))
  }
  return { ok: true, value: findings }
}

function namesIn(album: string): string[] {
  return album.split('/').filter(name => name !== '')
}

/** Whether albumd has neither recorded nor deleted the image, and no upload in doubt may have sent it. */
function isForeign(synced: Synced, uploads: readonly OpenUpload[], image: ListedImage): boolean {
  const isKnown = synced.images.byRemoteId(image.id) !== undefined || isLeftOver(synced, image)
  return !isKnown && !uploads.some(intent => mayHaveSent(synced, intent, image))
}
