import type { HostFailure, ImageHost } from '../../remote/host.ts'
import type { Tx } from '../../synced/synced.ts'
import type { Finding } from '../../synced/tables/audit.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { albumName } from '../album.ts'
import type { EngineContext } from '../context.ts'
import { delivers } from '../listing/index.ts'
import type { Interruption } from '../pass-request.ts'
import { type AlbumComparison, type AuditStart, compareAlbum, recordsOf } from './audit-album.ts'
import { lookAtAlbum } from './audit-look.ts'

export type AuditContext = Pick<
  EngineContext,
  'synced' | 'host' | 'clock' | 'tell' | 'ages' | 'credentialLifetimeMs'
>

export interface AuditRun extends AuditContext {
  /** Milliseconds from the start of one request to the start of the next, so that other work gets its share of the rate. */
  gapMs: number
  /** Told before each album is looked at. */
  progress: (done: number, albums: number) => void
}

export interface AuditReport {
  /** How many albums were compared, by this run and by an earlier run that this run continued. */
  albums: number
  /** The albums that could not be compared, by their paths. */
  skipped: { album: string; reason: Reason }[]
  /** Whether all albums were looked at. Otherwise the next run continues this run. */
  finished: boolean
  /** The host's failure that ended the run early, or null. */
  stopped: HostFailure | null
}

/** An audit that began longer ago is not continued. It begins anew. */
const STALE_MS = 7 * 24 * 3_600_000

/**
 * Walks every album that recorded images are in, or that albumd created, and records the differences as findings. Changes
 * nothing on the host. The caller sees to it that no upload and no deletion is under way.
 */
export async function runAudit(run: AuditRun, { stop, cut }: Interruption): Promise<AuditReport> {
  const { synced, clock } = run
  const began = await begin(run)
  const host = sparing(run)
  const albums = synced.audit.albums()
  const open = albums.filter(album => !synced.audit.isDone(album))
  const report: AuditReport = {
    albums: albums.length - open.length,
    skipped: [],
    finished: false,
    stopped: null,
  }
  for (const album of open) {
    run.progress(report.albums + report.skipped.length, albums.length)
    if (stop.aborted) return report
    const look = await lookAtAlbum({ ...run, host }, album, cut)
    if (look.kind === 'failed') {
      if (look.failure.remedy === 'cancelled') return report
      await synced.commit(tx => tx.meta.set('audit_stopped', true))
      return { ...report, stopped: look.failure }
    }
    if (look.kind === 'unknown') {
      report.skipped.push({ album: albumName(synced, album), reason: look.reason })
      continue
    }
    const compared = compareAlbum(look.images, recordsOf(synced, album, began, clock.wall()))
    await synced.commit(tx => {
      record(tx, album, compared)
      tx.audit.done(album, clock.wall())
    })
    report.albums++
  }
  const late = await listedLate(run, cut)
  await synced.commit(tx => {
    for (const { remote_id } of late) tx.audit.remove('gone', remote_id)
    finish(tx, albums, clock.wall())
  })
  return { ...report, finished: true }
}

async function begin({ synced, clock }: AuditContext): Promise<AuditStart> {
  const { images, meta, commit } = synced
  const now = clock.wall()
  if (meta.get('audit_stopped')) await commit(tx => tx.meta.clear('audit_stopped'))
  const before = meta.get('audit_began') ?? Number.NaN
  // After the clock was set back, the recorded start may lie in the future. Then the audit begins anew.
  if (before <= now && now - before < STALE_MS) return { at: before, newest: meta.get('audit_newest') ?? 0 }
  const newest = images.latest()?.id ?? 0
  await commit(tx => {
    tx.audit.forgetDone()
    tx.audit.forgetFindings()
    tx.meta.set('audit_began', now)
    tx.meta.set('audit_newest', newest)
  })
  return { at: now, newest }
}

function finish({ audit, meta }: Tx, albums: readonly (number | null)[], now: number): void {
  for (const album of albums) if (!audit.isDone(album)) audit.dropMovedFrom(album)
  audit.dropMoot(meta.get('audit_began') ?? now)
  audit.forgetDone()
  meta.clear('audit_began')
  meta.clear('audit_newest')
  meta.clear('deleted_more')
  meta.set('audit_ended', now)
  meta.set('audit_found', audit.count())
}

/** A host that is asked for listings at most once in `gapMs`. The gate alone would let an audit use the whole rate. */
function sparing({ host, clock, gapMs }: AuditRun): Pick<ImageHost, 'list'> {
  let next = Number.NEGATIVE_INFINITY
  return {
    async list(album, page, signal) {
      const wait = next - clock.monotonic()
      if (wait > 0) await clock.sleep(wait, signal)
      next = clock.monotonic() + gapMs
      return host.list(album, page, signal)
    },
  }
}

/** The images that no album lists although the host delivers them. */
async function listedLate(context: AuditContext, signal: AbortSignal): Promise<ImageRow[]> {
  const { audit, images } = context.synced
  const missing = audit
    .findings()
    .flatMap(({ kind, remote_id }) => (kind === 'gone' ? (images.byRemoteId(remote_id) ?? []) : []))
  const gone = new Set(await notDelivered(context, missing, signal))
  return missing.filter(image => !gone.has(image))
}

/** The images that are not delivered. Only young images are asked for, because a host may be late to list them. */
export async function notDelivered(
  { host, clock, ages, credentialLifetimeMs }: Omit<AuditContext, 'synced'>,
  images: readonly ImageRow[],
  signal: AbortSignal,
): Promise<ImageRow[]> {
  const gone: ImageRow[] = []
  for (const image of images) {
    const young = ages.since(image.recorded_at * 1000, clock) < credentialLifetimeMs
    const there = young && image.cdn_url !== null && (await delivers(host, image.cdn_url, image, signal))
    if (!there) gone.push(image)
  }
  return gone
}

function record({ audit, images }: Tx, album: number | null, compared: AlbumComparison): void {
  for (const { remote_id } of compared.inPlace) audit.remove('changed', remote_id)
  for (const finding of compared.findings) audit.put(finding)
  // An image that was found in another album before is not missing.
  for (const { remote_id, name } of compared.missing)
    if (!audit.has('changed', remote_id))
      audit.put({ kind: 'gone', remote_id, album, name, detail: because('not_listed') })
  for (const finding of compared.elsewhere) recordMoved(finding)

  /** An image that the album in its record lists too is no finding. */
  function recordMoved(finding: Finding): void {
    const home = images.byRemoteId(finding.remote_id)!.album
    if (audit.isDone(home) && !audit.has('gone', finding.remote_id)) return
    audit.remove('gone', finding.remote_id)
    audit.put(finding)
  }
}
