import type { z } from 'zod'
import type { Endpoint } from '../protocol/endpoints.ts'
import type { answers, CreateAlbumRequest, UploadRequest } from '../protocol/records.ts'
import type { Reason } from '../words/reasons.ts'
import type { EarlierRequests } from './gate/rate-window.ts'

/** The image host, as a plain object for `hostWith`. Every call passes the gate. When the host fails, the Outcome says so. After
 * `signal` the code is CANCELLED, and the remedy `cancelled`, or `find_out` when the request may have been carried out. */
export interface ImageHost extends Lister {
  /** §4.1, or §4.3. Waits until the line has room. Sent again only when it was certainly not carried out. */
  requestUpload(request: UploadRequest, signal: AbortSignal): Promise<Outcome<Credential>>
  /** §4.2. Sends the picture once, and never again by itself. */
  send(credential: Credential, picture: PictureBody, signal: AbortSignal): Promise<Outcome<Sent>>
  /** §4.5. Sent again after an outage. `mayGo` is asked just before each try; when it says no, the remedy is `cancelled`. */
  deleteImage(imageId: string, signal: AbortSignal, mayGo?: () => boolean): Promise<Outcome<void>>
  deleteAlbum(albumId: string, signal: AbortSignal, mayGo?: () => boolean): Promise<Outcome<void>>
  /** §4.6. Sends the request again only when it has certainly not been carried out. `mayGo`: as for `deleteImage`. */
  createAlbum(
    request: CreateAlbumRequest,
    signal: AbortSignal,
    mayGo?: () => boolean,
  ): Promise<Outcome<CreatedAlbum>>
  /** Fetches a delivery address without key or rate. Fails above `maxBytes` bytes. `take` gets the bytes of an answer 200. */
  fetchDelivered(
    cdnUrl: string,
    maxBytes: number,
    signal: AbortSignal,
    take?: (chunk: Uint8Array) => void,
  ): Promise<Delivered>
  /** The endpoints that the account can't use for now. `untried`: also those that `unblock` opened and no request has tried. */
  blocks(untried?: 'untried'): Block[]
  /** Sends the next request in spite of a block or an outage. Its answer shows whether that is over. */
  unblock(endpoint: Endpoint): void
  /** Sends the requests that wait for the end of an outage, even where the host asked to wait. Only for commands of a person. */
  askNow(): void
  /** Waits for requests under way, and closes the connections. Returns the last requests, for the next process's rate. */
  close(): Promise<EarlierRequests>
}

/** What walks over listings need of the host. */
export interface Lister {
  /** §4.4. `albumId`: null is the root. Sends the request again after an outage. */
  list(albumId: string | null, page: number, signal: AbortSignal): Promise<Outcome<ListPage>>
}

export type Outcome<T> = { ok: true; value: T } | { ok: false; failure: HostFailure }

/** What albumd may do about a failure. `failures.ts` gives each code of §7 its remedy. */
export type Remedy =
  /** The host has done nothing. Send the same request later. The gate has waited already for as long as it may. */
  | 'later'
  /** The request may have been carried out. Find out whether it was, before anything else is done. */
  | 'find_out'
  /** The host stored nothing: the upload node refused, or did not get the whole picture. Ask for a new credential. */
  | 'new_credential'
  /** The upload node refused the picture for a reason that §4.2 does not show, and stored nothing. Try again after hours. */
  | 'refused_by_node'
  /** Declare other dimensions, or at last `skip_dimension_check`. */
  | 'other_dimensions'
  /** The host does not take this version of the picture. Wait until the picture changes. */
  | 'change_picture'
  /** This host takes no request of this form, as the message says. Another try would not help. */
  | 'change_request'
  /** The image or album does not exist, or no longer exists. */
  | 'gone'
  | 'not_permitted'
  /** The account's daily quota, storage, plan or key does not allow the request. Each of these four blocks can end. */
  | 'quota'
  | 'storage'
  | 'plan'
  | 'key'
  /** The picture changed while it was being sent. The host stored nothing, because the last byte was not sent. */
  | 'changed_underway'
  /** The credential expires before the whole picture is sent. The host stored nothing. Try again on a faster line. */
  | 'faster_line'
  /** Line or nodes are full of uploads that began earlier. Nothing was stored. Try again when one of them has ended. */
  | 'give_way'
  | 'cancelled'

export interface HostFailure {
  remedy: Remedy
  endpoint: Endpoint
  /** A code of §7, another code that the host sent, or one of albumd's: HOST_UNREACHABLE, HOST_TLS, HOST_ANSWER,
   * HOST_REDIRECT, HOST_ADDRESS, PRESIGN_ALBUM, PICTURE_CHANGED, TOO_SLOW, GAVE_WAY, CREDENTIAL_EXPIRED, CANCELLED. */
  code: string
  /** The words for people, which contain no secret. The reason `said` holds the host's own words. */
  message: Reason
  status?: number
  /** Whether the gate did not send the request, because its endpoint is blocked: this is the failure that caused the block. */
  repeated?: true
  /** How long the host asks to wait (Retry-After, §7): until there is quota again, or in an outage when the wait is long. */
  retryAfterMs?: number
  /** No byte of the request has left this machine. */
  unsent?: true
  /** Whether the node may have refused because the credential was too old: it has taken none of this age. */
  aged?: true
  /** The answer to step 1 can't be used, but the host may have issued a credential and counted it for the quota (§8). */
  issued?: true
  /** An earlier try of the same request may have been carried out. */
  mayBeDone?: true
  /** Other requests to the same endpoint succeeded between the tries of this request. */
  othersServed?: true
}

/** An endpoint that the account can't use for now. */
export interface Block {
  endpoint: Endpoint
  remedy: Remedy
  code: string
  message: Reason
  /** When the host refused, in milliseconds of the gate's clock. */
  since: number
}

export interface Credential {
  /** The upload address exactly as the host gave it. It is never logged and never stored. */
  uploadUrl: string
  /** The delivery address. Null when the host tells it only after the picture was sent, as in the presign form, or when the
   * address shows the credential. */
  cdnUrl: string | null
  /** The image's id. Null in the credential form, in which the host tells the id only after the picture was sent. */
  imageId: string | null
}

export interface Sent {
  /** Null when the host has not told it. */
  imageId: string | null
  /** The delivery address. Null when the host has not told it, or when it may not be used (§5.4). */
  cdnUrl: string | null
}

/** What was got from a delivery address (§4.2, §4.3). Only together with the status do the bytes prove anything. */
export type Delivered =
  | { ok: true; status: number /** Bytes. */; size: number; sha256: Buffer }
  | { ok: false; code: string; message: Reason }

/** A page of a listing. `cdn_base_url`: a whole address; null when the listing names none, or one that may not be used. */
export type ListPage = Omit<z.infer<typeof answers.list>['data'], 'cdn_base_url'> & {
  cdn_base_url: string | null
}
export type CreatedAlbum = z.infer<typeof answers.create_album>['data']['album']

export interface PictureBody {
  fileName: string
  mime: string
  /** How many bytes `chunks` gives. */
  size: number
  /** Reads the bytes. When they are not those that were hashed, throws PictureChanged before the last chunk. */
  chunks(): AsyncIterable<Uint8Array>
  /** All bytes of the picture, when they are in memory and their hash is already checked. Then `chunks` is not called. */
  bytes?: Uint8Array
  /** `bytes` with `head` before and `tail` after them, in the same memory. Null: there is no room for them. */
  framed?(head: Uint8Array, tail: Uint8Array): Uint8Array | null
  /** Called when nothing reads `bytes` any more, so that the memory may be used again. Left out: the memory is collected. */
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
