import type { HostFailure, ImageHost } from '../../remote/host.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { Finding } from '../../synced/tables/audit.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because } from '../../words/reasons.ts'
import { albumName } from '../album.ts'
import type { Clock, FileAges } from '../clock.ts'
import { delivers } from '../listing/index.ts'
import type { Interruption } from '../pass-request.ts'
import { type AlbumComparison, compareAlbum } from './audit-album.ts'
import { lookAtAlbum } from './audit-look.ts'
import { type AuditStart, recordsOf } from './audit-records.ts'

export interface AuditParts {
  synced: Synced
  host: ImageHost
  clock: Clock
  ages: FileAges
  credentialLifetimeMs: number
  /** Milliseconds from the start of one request for a listing to the start of the next: the rest is for others. */
  gapMs: number
  /** So many of the albums have been looked at. */
  progress: (done: number, albums: number) => void
}

export interface AuditReport {
  /** How many albums were compared, those of an earlier run that this one went on from included. */
  albums: number
  /** Those that could not be compared: their path and why. */
  skipped: { album: string; reason: string }[]
  /** Whether the walk came to its end; else the next run goes on where this one was. */
  finished: boolean
  /** The host's answer that ended it early, or null. */
  stopped: HostFailure | null
}

/** An audit that began longer ago tells too little of today: it begins anew. */
const STALE_MS = 7 * 24 * 3_600_000

/**
 * Walks every album that images of ours are in, or that albumd made, and keeps what differs from the records as
 * findings. Changes nothing on the host. No upload and no deletion may be under way.
 */
export async function runAudit(parts: AuditParts, { stop, cut }: Interruption): Promise<AuditReport> {
  const { synced, clock } = parts
  const began = await begin(parts)
  const host = sparing(parts)
  const albums = synced.audit.albums()
  const open = albums.filter(album => !synced.audit.isDone(album))
  const report: AuditReport = {
    albums: albums.length - open.length,
    skipped: [],
    finished: false,
    stopped: null,
  }
  for (const album of open) {
    parts.progress(report.albums + report.skipped.length, albums.length)
    if (stop.aborted) return report
    const look = await lookAtAlbum({ ...parts, host }, album, cut)
    if (look.kind === 'failed') {
      const { remedy } = look.failure
      return { ...report, stopped: remedy === 'cancelled' ? null : look.failure }
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
  const late = await listedLate(parts, cut)
  await synced.commit(tx => {
    for (const { remote_id } of late) tx.audit.remove('gone', remote_id)
    finish(tx, albums, clock.wall())
  })
  return { ...report, finished: true }
}

async function begin({ synced, clock }: AuditParts): Promise<AuditStart> {
  const { images, meta, commit } = synced
  const now = clock.wall()
  const before = meta.get('audit_began') ?? Number.NaN
  // A clock that was set back makes an audit of the future.
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
  meta.set('audit_ended', now)
  meta.set('audit_found', audit.count())
}

/** Asks for listings no faster than allowed: the gate would give an audit all that is permitted. */
function sparing({ host, clock, gapMs }: AuditParts): Pick<ImageHost, 'list'> {
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

/** Of the images that are not listed anywhere, those that are there all the same. */
async function listedLate(parts: AuditParts, signal: AbortSignal): Promise<ImageRow[]> {
  const { audit, images } = parts.synced
  const missing = audit
    .findings()
    .flatMap(({ kind, remote_id }) => (kind === 'gone' ? (images.byRemoteId(remote_id) ?? []) : []))
  const gone = new Set(await notDelivered(parts, missing, signal))
  return missing.filter(image => !gone.has(image))
}

/** Images without those that are delivered: a host may be late to list what came a moment ago. */
export async function notDelivered(
  {
    host,
    clock,
    ages,
    credentialLifetimeMs,
  }: Pick<AuditParts, 'host' | 'clock' | 'ages' | 'credentialLifetimeMs'>,
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
  // It may have been seen in another album before.
  for (const { remote_id, name } of compared.missing)
    if (!audit.has('changed', remote_id))
      audit.put({ kind: 'gone', remote_id, album, name, detail: because('not_listed') })
  for (const finding of compared.elsewhere) recordMoved(finding)

  /** One that its own album shows too is there twice on the host's side, and where it belongs. */
  function recordMoved(finding: Finding): void {
    const home = images.byRemoteId(finding.remote_id)!.album
    if (audit.isDone(home) && !audit.has('gone', finding.remote_id)) return
    audit.remove('gone', finding.remote_id)
    audit.put(finding)
  }
}
