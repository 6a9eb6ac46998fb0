import type { z } from 'zod'
import { type Endpoint, PATHS } from '../protocol/endpoints.ts'
import { answers, type CreateAlbumRequest, type UploadRequest } from '../protocol/records.ts'
import { ask, type Connection, type Question } from './ask.ts'
import type { Clock } from './clock.ts'
import { fetchDelivered } from './download.ts'
import { openGate, type Patience, type RateLedger, type RequestEvent } from './gate/gate.ts'
import type {
  Block,
  CreatedAlbum,
  Credential,
  Delivered,
  ImageHost,
  ListPage,
  Outcome,
  PictureBody,
  Sent,
} from './host.ts'
import { mayBeUsed, parseAddress } from './http/address.ts'
import { Http } from './http/http.ts'
import { Secrets } from './secrets.ts'
import { Uploads } from './uploads.ts'

export interface RemoteOptions {
  /** {base_url}, {site_url} (§9.1). */
  baseUrl: string
  siteUrl: string
  apiKey: string
  /** §4.1 or §4.3. */
  uploadForm: 'credential' | 'presign'
  /** PEM of the authorities to trust instead of those that Node knows. */
  ca?: string
  /** The longest time without progress. */
  timeoutMs: number
  /** How long a credential may be used (§8), and so the longest that an upload may take. */
  credentialLifetimeMs: number
  /** The most that all uploads together may send, in bytes a second. Left out: no limit. */
  bandwidth?: number
  requestsPerSecond: Readonly<Record<Endpoint, number>>
  /** How many requests to one endpoint may be under way at a time. */
  concurrency: number
  patience: Patience
  clock: Clock
  /** A number from 0 to 1. Left out: Math.random. */
  random?(): number
  /** Left out: starts of requests are not kept across restarts. */
  ledger?: RateLedger
  /** Blocks that are known from an earlier process. */
  blocks?: readonly Block[]
  onRequest?(event: RequestEvent): void
}

/** Opens the host without sending anything. Throws TypeError for an address or a key that a checked config rules out. */
export function openImageHost(options: RemoteOptions): ImageHost {
  const base = parseAddress(new URL(options.baseUrl).href)
  const site = parseAddress(new URL(options.siteUrl).href)
  if (!base || !site || !mayBeUsed(base, base) || !mayBeUsed(site, site))
    throw new TypeError('base_url and site_url must be HTTPS addresses')
  if (!/^[!-~]+$/.test(options.apiKey))
    throw new TypeError('the API key contains a character that an HTTP header cannot contain')
  const { ca, timeoutMs, apiKey, clock } = options
  const gate = openGate({
    random: Math.random,
    ledger: { load: () => [], record: () => {} },
    onRequest: () => {},
    ...options,
  })
  const http = new Http({ timeoutMs, ...(ca !== undefined && { ca }) })
  // Answers have a few kilobytes. One that comes slowly, but without a pause of `timeoutMs`, is ended after twice that
  // time. The 2 seconds are for a short `timeoutMs`, because undici's timers are up to a second late.
  const answerLimitMs = Math.max(timeoutMs * 2, timeoutMs + 2000)
  const connection = { base, site, apiKey, secrets: new Secrets(apiKey), answerLimitMs, gate, http }
  const uploads = new Uploads({
    connection,
    form: options.uploadForm,
    bytesPerSecond: options.bandwidth ?? Number.POSITIVE_INFINITY,
    clock,
    lifetimeMs: options.credentialLifetimeMs,
  })
  return new Client(connection, uploads)
}

class Client implements ImageHost {
  readonly #connection: Connection
  readonly #uploads: Uploads

  constructor(connection: Connection, uploads: Uploads) {
    this.#connection = connection
    this.#uploads = uploads
  }

  requestUpload(request: UploadRequest, signal: AbortSignal): Promise<Outcome<Credential>> {
    return this.#uploads.request(request, signal)
  }

  send(credential: Credential, picture: PictureBody, signal: AbortSignal): Promise<Outcome<Sent>> {
    return this.#uploads.send(credential, picture, signal)
  }

  async list(albumId: string | null, page: number, signal: AbortSignal): Promise<Outcome<ListPage>> {
    const query = new URLSearchParams({ ...(albumId !== null && { album_id: albumId }), page: String(page) })
    const { list: schema } = answers
    const answer = await this.#ask(
      { endpoint: 'list', method: 'GET', path: `${PATHS.list}?${query}`, schema },
      signal,
    )
    return answer.ok ? { ok: true, value: answer.value.data } : answer
  }

  deleteImage(imageId: string, signal: AbortSignal, mayGo?: () => boolean): Promise<Outcome<void>> {
    return this.#delete({ img: imageId }, answers.delete_image, signal, mayGo)
  }

  deleteAlbum(albumId: string, signal: AbortSignal, mayGo?: () => boolean): Promise<Outcome<void>> {
    return this.#delete({ album: albumId }, answers.delete_album, signal, mayGo)
  }

  async createAlbum(json: CreateAlbumRequest, signal: AbortSignal): Promise<Outcome<CreatedAlbum>> {
    const { create_album: schema } = answers
    const answer = await this.#ask(
      { endpoint: 'create_album', method: 'POST', path: PATHS.create_album, json, schema },
      signal,
    )
    return answer.ok ? { ok: true, value: answer.value.data.album } : answer
  }

  fetchDelivered(cdnUrl: string, maxBytes: number, signal: AbortSignal): Promise<Delivered> {
    const { http, base } = this.#connection
    return fetchDelivered(http, base, cdnUrl, maxBytes, signal)
  }

  blocks(untried?: 'untried'): Block[] {
    return this.#connection.gate.blocks(untried)
  }

  unblock(endpoint: Endpoint): void {
    this.#connection.gate.unblock(endpoint)
  }

  async close(): Promise<void> {
    await this.#connection.gate.close()
    await this.#connection.http.close()
  }

  async #delete(
    what: Record<string, string>,
    schema: z.ZodType,
    signal: AbortSignal,
    mayGo: (() => boolean) | undefined,
  ): Promise<Outcome<void>> {
    const path = `${PATHS.delete}?${new URLSearchParams(what)}`
    const question = { endpoint: 'delete', method: 'DELETE', path, schema, ...(mayGo && { mayGo }) } as const
    const answer = await this.#ask(question, signal)
    return answer.ok ? { ok: true, value: undefined } : answer
  }

  #ask<T>(question: Omit<Question<T>, 'below'>, signal: AbortSignal): Promise<Outcome<T>> {
    return ask(this.#connection, { ...question, below: this.#connection.base }, signal)
  }
}
