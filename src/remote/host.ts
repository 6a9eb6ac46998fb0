import type { z } from 'zod'
import type { Endpoint } from '../protocol/endpoints.ts'
import type { answers, CreateAlbumRequest, UploadRequest } from '../protocol/records.ts'
import type { Reason } from '../words/reasons.ts'
import type { EarlierRequests } from './gate/rate-window.ts'

/**
 * The image host as the rest of albumd sees it: a plain object, for `hostWith`. Every call passes the gate, and every outcome is a value. When `signal` is
 * aborted, waiting and work end, and the outcome is a failure CANCELLED: with remedy `cancelled`, or `find_out` when the
 * request may have been carried out.
 */
export interface ImageHost {
  /**
   * §4.1, or §4.3 with `upload_form: presign`. Waits until the line has room for the picture, because the picture is to be
   * sent at once. Sent again by itself when it can't have been carried out.
   */
  requestUpload(request: UploadRequest, signal: AbortSignal): Promise<Outcome<Credential>>
  /** §4.2. Sent once, never again by itself. */
  send(credential: Credential, picture: PictureBody, signal: AbortSignal): Promise<Outcome<Sent>>
  /** §4.4. `albumId` null is the root. Sent again by itself. */
  list(albumId: string | null, page: number, signal: AbortSignal): Promise<Outcome<ListPage>>
  /**
   * §4.5. Sent again by itself, because a second deletion finds nothing. `mayGo` is asked just before each request leaves;
   * when it says no, the remedy is `cancelled`.
   */
  deleteImage(imageId: string, signal: AbortSignal, mayGo?: () => boolean): Promise<Outcome<void>>
  deleteAlbum(
    albumId: string,
    signal: AbortSignal,
    mayGo?: () => boolean,
  ): Promise<Outcome<DeletedWithAlbum | null>>
  /** §4.6. Sent again by itself only when it can't have been carried out. `mayGo`: as for `deleteImage`. */
  createAlbum(
    request: CreateAlbumRequest,
    signal: AbortSignal,
    mayGo?: () => boolean,
  ): Promise<Outcome<CreatedAlbum>>
  /** GET of a delivery address, without the API key. Counts towards no limit of §8. An answer of more than `maxBytes` is a failure. */
  fetchDelivered(cdnUrl: string, maxBytes: number, signal: AbortSignal): Promise<Delivered>
  /**
   * What the account can't use for now, because of the plan, the quota, the storage or the key. `untried`: also what was
   * unblocked and not tried yet.
   */
  blocks(untried?: 'untried'): Block[]
  /** Lets the next request to this endpoint find out whether its block, or the outage that it waits out, is over. */
  unblock(endpoint: Endpoint): void
  /** Waits for what is under way and closes the connections. Answers the requests that the next process must count. */
  close(): Promise<EarlierRequests>
}

/** How much the host deleted with an album (§4.5): the album itself may count or not. */
export interface DeletedWithAlbum {
  albums: number
  images: number
}

export type Outcome<T> = { ok: true; value: T } | { ok: false; failure: HostFailure }

/** What may be done about a failure. `failures.ts` gives each code of §7 its remedy. */
export type Remedy =
  /** Nothing was done. Send the same request again later; the gate has already waited as long as it may. */
  | 'later'
  /** The request may have been carried out. Find out before anything else. */
  | 'find_out'
  /** Nothing was stored: the upload node refused, or never got the whole picture. Ask for a new credential. */
  | 'new_credential'
  /** The upload node refused the picture for a reason that §4.2 does not show. Nothing was stored; try again in hours. */
  | 'refused_by_node'
  /** Declare other dimensions, or skip_dimension_check as the last try. */
  | 'other_dimensions'
  /** The host does not take this picture as it is. Wait until the picture changes. */
  | 'change_picture'
  /**
   * This host does not take a request of this form. Sending it again is useless; the message says what the host
   * refuses.
   */
  | 'change_request'
  /** The image or album does not exist (any more). */
  | 'gone'
  | 'not_permitted'
  /** The account's daily quota, storage, plan or key does not allow the request. Each of these blocks ends some day. */
  | 'quota'
  | 'storage'
  | 'plan'
  | 'key'
  /** The picture changed while it was being sent. Nothing was stored: its last byte was not sent. */
  | 'changed_underway'
  /** On this line the credential expires before the whole picture is sent. Nothing was stored; try on a faster line. */
  | 'faster_line'
  /** The line became slower, and uploads that began earlier need all of it. Nothing was stored; try again soon. */
  | 'give_way'
  | 'cancelled'

export interface HostFailure {
  remedy: Remedy
  endpoint: Endpoint
  /**
   * A code of §7, another code that the host sent, or one of albumd's: HOST_UNREACHABLE, HOST_TLS, HOST_ANSWER,
   * HOST_REDIRECT, HOST_ADDRESS, PRESIGN_ALBUM, PICTURE_CHANGED, TOO_SLOW, GAVE_WAY, CREDENTIAL_EXPIRED, CANCELLED.
   */
  code: string
  /** Without secrets. `said`: the host's own words. */
  message: Reason
  status?: number
  /** The gate answered with an earlier failure, and the request was not sent. */
  repeated?: true
  /**
   * How long the host asks to wait (Retry-After, §7): with DAILY_LIMIT_REACHED until there is quota again, with an outage if that
   * is long.
   */
  retryAfterMs?: number
  /** No byte of the request left. */
  unsent?: true
  /** The answer to step 1 can't be used, but the host may have issued a credential and counted it (§8). */
  issued?: true
  /** An earlier try of the same request may have been carried out. */
  mayBeDone?: true
  /** Between the tries of this request, the host served other requests to the same endpoint. */
  othersServed?: true
}

/** An endpoint that the account can't use for now. */
export interface Block {
  endpoint: Endpoint
  remedy: Remedy
  code: string
  message: Reason
  /** On the gate's clock. */
  since: number
}

export interface Credential {
  /** Used exactly as the host gave it; never logged, never stored. */
  uploadUrl: string
  /**
   * Null when the host tells the address only after the picture was sent, as with the presign form, or when the address
   * shows the credential.
   */
  cdnUrl: string | null
  /** Null with the credential form, which tells it only after the picture was sent. */
  imageId: string | null
}

export interface Sent {
  imageId: string
  /** Null when the host has not told the address, or when the address may not be used (§5.4). */
  cdnUrl: string | null
}

/** What a delivery address (§4.2, §4.3) gives. The status decides what its bytes prove. */
export type Delivered =
  | { ok: true; status: number /** Bytes. */; size: number; sha256: Buffer }
  | { ok: false; code: string; message: Reason }

/** `cdn_base_url`: a whole address, or null when the listing names none that may be used. */
export type ListPage = Omit<z.infer<typeof answers.list>['data'], 'cdn_base_url'> & {
  cdn_base_url: string | null
}
export type CreatedAlbum = z.infer<typeof answers.create_album>['data']['album']

/** A picture to be sent. */
export interface PictureBody {
  fileName: string
  mime: string
  /** Bytes; exactly as many come out of `chunks`. */
  size: number
  /** Throws PictureChanged before the last chunk when the bytes are not those that were hashed. */
  chunks(): AsyncIterable<Uint8Array>
  /** The whole picture, when it is in memory and its hash is already checked. `chunks` is then not called. */
  bytes?: Uint8Array
  /**
   * Called when the host has the picture and no connection reads `bytes` any more, so that the memory may be used again.
   * The call may never come; the memory is then left to the garbage collector.
   */
  released?(): void
}

export class PictureChanged extends Error {
  override name = 'PictureChanged'
  readonly code = 'PICTURE_CHANGED'
}

/** The same host, with some of its calls replaced. */
export function hostWith(host: ImageHost, changes: Partial<ImageHost>): ImageHost {
  return { ...host, ...changes }
}

/** Time for the gate and the line. A parameter, so that tests can pass hours of it at once. */
export interface Clock {
  /** Milliseconds on a clock that never jumps. */
  now(): number
  /** Resolves early, without an error, when `signal` is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}
