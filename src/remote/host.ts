import type { z } from 'zod'
import type { Endpoint } from '../protocol/endpoints.ts'
import type { AlbumRecord, answers, CreateAlbumRequest, UploadRequest } from '../protocol/records.ts'

/**
 * The image host as the rest of albumd sees it. Every call passes the gate; every outcome is a value.
 * `signal` ends waiting and work alike. The outcome is then a failure CANCELLED: `cancelled`, or `find_out`
 * where it may have been done.
 */
export interface ImageHost {
  /**
   * §4.1, or §4.3 with `upload_form: presign`. Sent again by itself where nothing can have happened. Waits until the
   * line has room for the picture: its bytes are to follow at once.
   */
  requestUpload(request: UploadRequest, signal: AbortSignal): Promise<Outcome<Credential>>
  /** §4.2. Sent once, never again by itself. */
  send(credential: Credential, picture: PictureBody, signal: AbortSignal): Promise<Outcome<Sent>>
  /** §4.4. `albumId` null is the root. Sent again by itself. */
  list(albumId: string | null, page: number, signal: AbortSignal): Promise<Outcome<ListPage>>
  /**
   * §4.5. Sent again by itself: a second deletion finds nothing. `mayGo` is asked just before each request leaves; where
   * it says no, the outcome is `cancelled`.
   */
  deleteImage(imageId: string, signal: AbortSignal, mayGo?: () => boolean): Promise<Outcome<void>>
  deleteAlbum(albumId: string, signal: AbortSignal, mayGo?: () => boolean): Promise<Outcome<void>>
  /** §4.6. Sent once, unless nothing can have happened. */
  createAlbum(request: CreateAlbumRequest, signal: AbortSignal): Promise<Outcome<CreatedAlbum>>
  /** GET of a delivery address, without the key. Its bytes count towards no limit of §8; more than `maxBytes` are not taken. */
  fetchDelivered(cdnUrl: string, maxBytes: number, signal: AbortSignal): Promise<Delivered>
  /**
   * What the account can't use for now: the plan, the quota, the storage or the key forbids it. `untried`: also what was
   * unblocked and not asked since.
   */
  blocks(untried?: 'untried'): Block[]
  /**
   * The next request to this endpoint finds out whether what shut it (plan, quota, storage, key), or the outage that it
   * waits for, is over.
   */
  unblock(endpoint: Endpoint): void
  /** Waits for what is under way and closes connections. */
  close(): Promise<void>
}

export type Outcome<T> = { ok: true; value: T } | { ok: false; failure: HostFailure }

/** What may be done about a failure. Each code of §7 belongs to one, said in one place. */
export type Remedy =
  /**
   * Nothing was done there; the same request may go again later. The gate has waited out trouble as long as
   * it may.
   */
  | 'later'
  /** It may have been done. Find out before anything else. */
  | 'find_out'
  /** The upload node refused or never had it whole: nothing was stored; ask for a new credential. */
  | 'new_credential'
  /** Try once more with skip_dimension_check. */
  | 'skip_dimensions'
  /** This picture is not wanted as it is. Wait until it changes. */
  | 'change_picture'
  /** Our request does not suit this host. Repeating it is useless; the message says what the host minds. */
  | 'change_request'
  /** The resource does not exist (any more). */
  | 'gone'
  | 'not_permitted'
  /** States of the account, with an end. */
  | 'quota'
  | 'storage'
  | 'plan'
  | 'key'
  /** The picture changed while it was being sent; its last byte never left. */
  | 'changed_underway'
  /** On a line this slow its credential ends before this picture is sent. Nothing was stored; try when it is faster. */
  | 'faster_line'
  /** On a line this slow it left the line to those that were sent already. Nothing was stored; try soon. */
  | 'give_way'
  | 'cancelled'

export interface HostFailure {
  remedy: Remedy
  endpoint: Endpoint
  /**
   * §7's code, another one that the host sent, or ours: HOST_UNREACHABLE, HOST_TLS, HOST_ANSWER,
   * HOST_REDIRECT, HOST_ADDRESS, PRESIGN_ALBUM, PICTURE_CHANGED, TOO_SLOW, GAVE_WAY, CREDENTIAL_EXPIRED, CANCELLED.
   */
  code: string
  /** One line for a person, without secrets. */
  message: string
  status?: number
  /** Said before: the gate answered from memory and asked nobody. */
  repeated?: true
  /** With DAILY_LIMIT_REACHED: in how many milliseconds there is quota again, where the host said so (§7). */
  retryAfterMs?: number
  /** Nothing of it left. */
  unsent?: true
  /** An earlier try of the same request may have been done. */
  mayBeDone?: true
}

/** An endpoint that the account can't use for now. */
export interface Block {
  endpoint: Endpoint
  remedy: Remedy
  code: string
  message: string
  /** On the gate's clock. */
  since: number
}

export interface Credential {
  /** Used exactly as given; never logged, never stored. */
  uploadUrl: string
  /** Null for the presign form, until the picture is sent. */
  cdnUrl: string | null
  /** Only the presign form tells it before sending. */
  imageId: string | null
}

export interface Sent {
  imageId: string
  cdnUrl: string
}

/** What a delivery address (§4.2, §4.3) gives. The status decides what its bytes prove. */
export type Delivered =
  | { ok: true; status: number /** Bytes. */; size: number; sha256: Buffer }
  | { ok: false; code: string; message: string }

export type ListPage = z.infer<typeof answers.list>['data']
export type CreatedAlbum = Pick<AlbumRecord, 'id' | 'name' | 'depth' | 'created_at'>

/** A picture on its way. */
export interface PictureBody {
  fileName: string
  mime: string
  /** Bytes; exactly as many come out of `chunks`. */
  size: number
  /** Throws PictureChanged before the last chunk where the bytes are not those that were hashed. */
  chunks(): AsyncIterable<Uint8Array>
  /** Where the whole picture is in memory anyway: its bytes, already proved. `chunks` is then not asked. */
  bytes?: Uint8Array
  /** Called once it is on the host and no connection reads `bytes` any more. Not always: who never hears of it keeps them. */
  released?(): void
}

export class PictureChanged extends Error {
  override name = 'PictureChanged'
  readonly code = 'PICTURE_CHANGED'
}
