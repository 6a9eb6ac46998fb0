import { locationOf } from '../../records/versions.ts'
import type { Block, HostFailure } from '../../remote/host.ts'
import type { EngineContext } from '../../sync/context.ts'
import { runPass } from '../../sync/pass.ts'
import type { PassEvent } from '../../sync/pass-events.ts'
import type { PassRequest } from '../../sync/pass-request.ts'
import { readQuota } from '../../sync/quota/index.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { RecoveryPace } from '../../sync/uploads/index.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FileKey } from '../../synced/tables/files.ts'
import type { HistoryEvent } from '../../synced/tables/history.ts'
import { because, codeOf, type Reason, type ReasonCode, WHY_IN_ESCROW } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import type { Wait } from '../report/step.ts'
import { waitsForPerson } from '../report/waits.ts'
import { recordedHost } from './recorded-host.ts'

/** replace: the picture is uploaded, and its old image is to be deleted.
 * link: an image that is on the host becomes the picture's.
 * hold: the image is to be deleted, and waits for a person.
 * wait: the picture, or the deletion of the image, waits.
 * keep: the image was to be deleted, and stays, because something needs it.
 * none: the mirror is guarded. */
export type Operation =
  | 'upload'
  | 'replace'
  | 'link'
  | 'fail'
  | 'delete'
  | 'hold'
  | 'wait'
  | 'keep'
  | 'use_album'
  | 'delete_album'
  | 'none'

/** What the next pass does or leaves, and why. */
export interface PlannedInWords {
  operation: Operation
  /** The mirror's folder. Null: an album, which may be of several mirrors. */
  mirror: string | null
  /** The path below the mirror's folder. Of an album: its path on the host. */
  path: string
  code: ReasonCode
  reason: string
  /** The size of a picture that is sent, in bytes. */
  size?: number
  /** The delivery address, which the deletion ends. Null: not known. */
  cdn_url?: string | null
  /** When the grace of the image that waits has ended: ISO 8601. */
  until?: string
}

export type Planned = Omit<PlannedInWords, 'code' | 'reason'> & { why: Reason }

export interface Rehearsal {
  blocks: readonly Block[]
  say: (planned: Planned) => void
  waitOf: (entry: EscrowRow) => Pick<Wait, 'why' | 'until'>
  note: (emitted: Note) => void
}

export type Note = Extract<PassEvent, { event: 'uploads_started' | 'uploads_stopped' }>

/** Operations after which a later step of the pass may go on with the picture or the image. */
const MAY_GO_ON: ReadonlySet<Operation> = new Set(['wait', 'fail', 'keep'])

/** Runs a pass against a host that holds what is recorded. Uploads in doubt stay in doubt. `context`: its records are a copy. */
export async function rehearse(
  context: Omit<EngineContext, 'host' | 'emit' | 'pace'>,
  request: PassRequest,
  { blocks, say, waitOf, note }: Rehearsal,
): Promise<void> {
  const { synced } = context
  const waiting = new Map<string, Planned>()
  let address: string | null = null
  const host = recordedHost(synced, {
    blocks,
    quotaLeft: quotaLeft(context),
    usedUp: usedUp(context.allowance.limit),
    onDelete: image => {
      address = image.cdn_url
    },
  })
  const emit = (emitted: PassEvent) => {
    if (emitted.event === 'uploads_started' || emitted.event === 'uploads_stopped') return note(emitted)
    const planned = plannedBy(emitted, synced)
    if (!planned) return
    const key = `${planned.mirror}/${planned.path}`
    if (MAY_GO_ON.has(planned.operation)) return void waiting.set(key, planned)
    waiting.delete(key)
    say(planned.operation === 'delete' ? { ...planned, cdn_url: address } : planned)
  }
  const pace = Object.assign(new RecoveryPace(), { isDue: () => false })
  // Without a settling time: a real pass waits until a young picture has settled, and sends it then.
  await runPass({ ...context, host, emit, pace, settleMs: 0 }, request)
  for (const { folder } of request.mirrors) {
    const row = synced.mirrors.of(folder)
    for (const entry of row ? synced.escrow.ofMirror(row.id) : []) {
      const key = `${folder}/${entry.path}`
      const kept = waiting.get(key)?.operation === 'keep' ? waiting.get(key)!.why : null
      if (kept) waiting.delete(key)
      const { why, until } = kept ? { why: kept, until: null } : waitOf(entry)
      say({ ...leftInEscrow(synced, folder, entry, why), ...(until !== null && { until: isoTime(until) }) })
    }
  }
  for (const planned of waiting.values()) say(planned)
}

export function fullPathOf(synced: Pick<Synced, 'folders' | 'mirrors'>, file: FileKey): string {
  const { mirror, path } = locationOf(synced, file)
  return fullPath(synced.mirrors.byId(mirror)!.folder, path)
}

/** Whether the picture at this whole path can't have the bytes of a recorded image, so that a dry run need not read it whole.
 * False also where a pass has read it and let it wait. Ask after the scan, which ends the waits of what has changed. */
export function unlikeRecorded(
  synced: Pick<Synced, 'images' | 'waits' | 'folders' | 'mirrors'>,
): (full: string, size: number) => boolean {
  let sizes: ReadonlySet<number> | null = null
  let waiting: ReadonlySet<string> | null = null
  return (full, size) => {
    sizes ??= new Set(synced.images.sizesToCompare())
    waiting ??= new Set(synced.waits.all().map(file => fullPathOf(synced, file)))
    return !sizes.has(size) && !waiting.has(full)
  }
}

function quotaLeft({
  synced,
  allowance,
  clock,
  others,
}: Pick<EngineContext, 'synced' | 'allowance' | 'clock' | 'others'>): number {
  const { used, exhausted } = readQuota(synced, allowance, clock.wall(), others)
  if (exhausted === null) return Math.max(0, allowance.limit - used)
  return exhausted.resumes !== null && exhausted.resumes <= clock.wall() ? allowance.limit : 0
}

const usedUp = (limit: number): HostFailure => ({
  remedy: 'quota',
  endpoint: 'upload',
  code: 'DAILY_LIMIT_REACHED',
  message: because('limit_reached', { limit }),
})

function plannedBy(emitted: PassEvent, synced: Synced): Planned | null {
  switch (emitted.event) {
    case 'picture_uploaded': {
      const { mirror, path, size } = emitted
      return { ...whyUploaded(synced, mirror, path), mirror, path, size }
    }
    case 'picture_linked':
      return { operation: 'link', mirror: emitted.mirror, path: emitted.path, why: because('linked_by_name') }
    case 'picture_failed':
      return { operation: 'fail', mirror: emitted.mirror, path: emitted.path, why: emitted.message }
    case 'picture_waits':
    case 'picture_uncertain':
      return { operation: 'wait', mirror: emitted.mirror, path: emitted.path, why: emitted.message }
    case 'image_deleted': {
      const { mirror, path, reason, moved_to: to } = emitted
      const why = to === null ? WHY_IN_ESCROW[reason] : because('picture_moved', { path: to })
      return { operation: 'delete', mirror, path, why }
    }
    case 'image_kept':
      return { operation: 'keep', mirror: emitted.mirror, path: emitted.path, why: emitted.reason }
    case 'album_created':
      return { operation: 'use_album', mirror: null, path: emitted.album, why: because('first_needs_album') }
    case 'album_deleted':
      return { operation: 'delete_album', mirror: null, path: emitted.album, why: because('album_unused') }
    case 'mirror_guarded':
      return { operation: 'none', mirror: emitted.mirror, path: '', why: emitted.reason }
    default:
      return null
  }
}

/** After these events in its history, a picture had nothing left to send. */
const SETTLED: ReadonlySet<HistoryEvent> = new Set(['uploaded', 'adopted', 'linked', 'unchanged', 'arrived'])

function whyUploaded(
  { mirrors, history }: Synced,
  mirror: string,
  path: string,
): Pick<Planned, 'operation' | 'why'> {
  const past = history.of({ mirror: mirrors.of(mirror)!.id, path })
  const became = past.pop()?.detail ?? null
  const since = past.slice(past.findLastIndex(({ event }) => SETTLED.has(event)) + 1)
  const change = since.findLast(({ event }) => event === 'changed' || event === 'lost')?.detail
  if (became !== null && codeOf(became) === 'moved_from') return { operation: 'upload', why: became }
  const operation = became !== null && codeOf(became) === 'old_image_goes' ? 'replace' : 'upload'
  return { operation, why: change ?? because(became === null ? 'new' : 'touched') }
}

function leftInEscrow({ images }: Synced, mirror: string, entry: EscrowRow, why: Reason): Planned {
  const operation = waitsForPerson(entry) ? 'hold' : 'wait'
  const cdn_url = images.byId(entry.image)?.cdn_url ?? null
  return { operation, mirror, path: entry.path, why, cdn_url }
}
