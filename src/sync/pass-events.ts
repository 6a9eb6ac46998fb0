import { inWords, type Reason } from '../words/reasons.ts'

/** The events of a pass. Paths are below the mirror's folder. */
export type PassEvent =
  | { event: 'scan_started'; mirror: string }
  | { event: 'scan_finished'; mirror: string; folders: number; files: number; complete: boolean }
  /** The scan found that something must be done about a file. */
  | {
      event: 'change_found'
      mirror: string
      path: string
      change: 'pending' | 'aside' | 'gone' | 'pruned'
      reason: Reason
    }
  /** A picture is gone from the disk. Its image and address are deleted after the grace, unless something needs the image. */
  | { event: 'picture_gone'; mirror: string; path: string; cdn_url: string | null }
  | { event: 'mirror_guarded'; mirror: string; reason: Reason }
  /** `pictures` and `bytes`: what is to be sent. `compare`: how many more pictures are compared first. `quota_left`: by albumd's
   * own count. `looks_first`: each album is listed first, because the records may lack what the host holds. Emitted again, with
   * all that is left, when a scan beside the uploads has found more. */
  | {
      event: 'uploads_started'
      pictures: number
      bytes: number
      compare: number
      quota_left: number
      looks_first: boolean
    }
  /** `cdn_url`: null when the host has not told where it delivers the image. */
  | { event: 'picture_uploaded'; mirror: string; path: string; size: number; cdn_url: string | null }
  /** `compared`: no record proved that the host has the bytes, so the image was fetched and compared. `cdn_url`: the address of an
   * image that the picture uses again, after another one or none. */
  | {
      event: 'picture_unchanged'
      mirror: string
      path: string
      size: number
      compared?: true
      cdn_url?: string | null
    }
  /** An image on the host can be this picture. The picture is not uploaded. Its bytes are not compared yet. */
  | { event: 'picture_linked'; mirror: string; path: string }
  /** What became of an upload whose outcome was not known. */
  | { event: 'upload_found_out'; mirror: string; path: string; name: string; arrived: boolean }
  | { event: 'picture_failed'; mirror: string; path: string; code: string; message: Reason }
  | { event: 'picture_uncertain'; mirror: string; path: string; message: Reason }
  /** `retry_in_ms`: after this time another pass must try again, even when no event reports a change. */
  | { event: 'picture_waits'; mirror: string; path: string; message: Reason; retry_in_ms?: number }
  | { event: 'album_created'; album: string }
  | { event: 'album_deleted'; album: string }
  /** The first look at an album has found images although no image was ever recorded. Emitted once. */
  | { event: 'new_state'; album: string; images: number; message: Reason }
  /** The account's default album was found. Pictures that are uploaded without an album land there (§4.1). */
  | { event: 'default_album_found'; album: string }
  | { event: 'format_refused'; format: string; message: Reason }
  | { event: 'uploads_stopped'; code: string; message: Reason }
  /** `moved_to`: where the same picture lies now: its path below this mirror, or its whole path in another one. Null: nowhere. */
  | {
      event: 'image_deleted'
      mirror: string
      path: string
      reason: 'deleted' | 'superseded' | 'ignored'
      moved_to: string | null
    }
  /** More images are to be deleted than the hold allows. `images`: how many wait. `pictures`: how many of the mirror use one. */
  | { event: 'deletions_held'; mirror: string; images: number; pictures: number }
  /** Many images are to be deleted, so they and all that follow wait longer. `until`: ISO 8601; for a daemon, if it runs on. */
  | { event: 'deletions_many'; mirror: string; images: number; pictures: number; until: string }
  | { event: 'image_kept'; mirror: string; path: string; reason: Reason }

/** The same events with words in place of reasons, for log, page and command line. */
export type SpokenEvent = Spoken<PassEvent>

type Spoken<E> = E extends unknown ? { [K in keyof E]: E[K] extends Reason ? string : E[K] } : never

export function spoken(event: PassEvent): SpokenEvent {
  if ('message' in event) return { ...event, message: inWords(event.message) }
  if ('reason' in event && event.event !== 'image_deleted') return { ...event, reason: inWords(event.reason) }
  return event
}

export type Emit = (event: PassEvent) => void
export type EmitSpoken = (event: SpokenEvent) => void
