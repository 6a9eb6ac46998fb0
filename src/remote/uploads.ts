import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Millis, SteadyClock } from '../protocol/clock.ts'
import { FILE_PART, PATHS, PRESIGN_PATH } from '../protocol/endpoints.ts'
import { answers, type PresignRequest, type UploadRequest } from '../protocol/records.ts'
import { because } from '../words/reasons.ts'
import { answerReader, ask, attemptOf, COMMON_HEADERS, type Connection, type Question } from './ask.ts'
import { badAddress, cancelled, noAlbumInPresign, ownFailure, tooSlow } from './failures.ts'
import type { Attempt } from './gate/gate.ts'
import { NO_PACE } from './gate/rate-window.ts'
import {
  type Credential,
  type HostFailure,
  type Outcome,
  type PictureBody,
  PictureChanged,
  type Sent,
} from './host.ts'
import { type Address, deliveryAddress, givenAddress, wholeAddress } from './http/address.ts'
import type { ChunkedBody, HttpRequest, HttpResult } from './http/exchange.ts'
import { Bandwidth, Line, Passage, paced, type Slowness } from './line/line.ts'
import { showsCredential } from './secrets.ts'

export interface UploadsOptions {
  /** §4.1 or §4.3. */
  uploadForm: 'credential' | 'presign'
  /** All uploads together send at most so many bytes a second. Left out: there is no limit. */
  bandwidth?: number
  clock: SteadyClock
  /** How long a credential may be used (§8), in milliseconds. Each upload must end within this time. */
  credentialLifetimeMs: number
  wall?(): Millis
}

/** The most bytes of a body that is written at once to a host on this machine: less than Linux takes of any connection there. */
const TAKEN_AT_ONCE = 256 * 1024
/** How many of the latest credentials are remembered. */
const REMEMBERED = 1000

/** §4.1 to §4.3: asks for credentials, and sends pictures over the line that all uploads share. */
export class Uploads {
  readonly #connection: Connection
  readonly #options: UploadsOptions
  readonly #line: Line
  readonly #bandwidth: Bandwidth
  /** The place on the line of each credential that was granted and not used yet, by the credential's address. */
  readonly #granted = new Map<string, Passage>()
  /** The request of each of the latest credentials, by the credential's address. When a host or proxy sends an answer twice, the
   * copy must not be taken for the answer to the next request. */
  readonly #requests = new Map<string, string>()

  constructor(connection: Connection, options: UploadsOptions) {
    const { clock, credentialLifetimeMs: lifetimeMs, bandwidth = Number.POSITIVE_INFINITY } = options
    this.#connection = connection
    this.#options = options
    this.#line = new Line({ ...options, lifetimeMs, ceiling: bandwidth })
    this.#bandwidth = new Bandwidth(bandwidth, clock)
  }

  /** Asks for a credential. Waits for room on the line before, because the credential's life begins when it is granted. */
  async request(request: UploadRequest, signal: AbortSignal): Promise<Outcome<Credential>> {
    const passage = await this.#line.enter(request.file_size, signal)
    if (!passage) return { ok: false, failure: cancelled('upload', 'nothing') }
    if (!(passage instanceof Passage))
      return { ok: false, failure: tooSlow('upload', passage, this.#options.credentialLifetimeMs) }
    let answer: Outcome<Credential> | null = null
    try {
      answer = await this.#credential(request, signal)
      return answer
    } finally {
      if (answer?.ok) this.#keep(answer.value, passage)
      else passage.leave()
    }
  }

  /** Asks for a credential in one of the two forms of step 1. */
  async #credential(request: UploadRequest, signal: AbortSignal): Promise<Outcome<Credential>> {
    const { base, site } = this.#connection
    const whole = (uploadUrl: string, below: Address, path: string) =>
      wholeAddress(uploadUrl, { ...below, path: `${below.path.replace(/\/$/, '')}${path}` })
    if (this.#options.uploadForm === 'credential')
      return this.#ask(signal, {
        below: base,
        path: PATHS.upload,
        json: request,
        schema: answers.upload,
        read: ({ data }) => ({
          uploadUrl: whole(data.upload_url, base, PATHS.upload),
          cdnUrl: data.cdn_url ?? null,
          imageId: null,
        }),
      })
    const { file_name, file_size, mime_type, album_id } = request
    if (album_id !== undefined) return { ok: false, failure: noAlbumInPresign() }
    const json: PresignRequest = { file_name, file_size, mime_type }
    return this.#ask(signal, {
      below: site,
      path: PRESIGN_PATH,
      json,
      schema: answers.presign,
      read({ upload_url, upload_token, image_id }) {
        const joint = upload_url.includes('?') ? '&' : '?'
        const uploadUrl = `${whole(upload_url, site, PRESIGN_PATH)}${joint}token=${encodeURIComponent(upload_token)}`
        return { uploadUrl, cdnUrl: null, imageId: image_id }
      },
    })
  }

  async #ask<T>(
    signal: AbortSignal,
    question: Omit<Question<T, Credential>, 'endpoint' | 'method' | 'fits'>,
  ): Promise<Outcome<Credential>> {
    const request = JSON.stringify(question.json)
    const fits = (answer: T) => (this.#requests.get(question.read(answer).uploadUrl) ?? request) === request
    const whole = { endpoint: 'upload', method: 'POST', ...question, fits } as const
    const answer = await ask(this.#connection, signal, whole)
    if (!answer.ok) return answer
    this.#requests.set(answer.value.uploadUrl, request)
    if (this.#requests.size > REMEMBERED) this.#requests.delete(this.#requests.keys().next().value!)
    return this.#checked(answer.value)
  }

  /** Refuses a credential whose address may not be used, or whose delivery address contains the key. A delivery address that
   * shows the credential becomes null, because the journal would store it. */
  #checked(credential: Credential): Outcome<Credential> {
    const { base, apiKey } = this.#connection
    const { uploadUrl } = credential
    const bad = (failure: HostFailure) => ({ ok: false, failure: { ...failure, issued: true } }) as const
    if (!givenAddress(uploadUrl, base)) return bad(badAddress('upload', 'upload_url'))
    if (credential.cdnUrl === null) return { ok: true, value: credential }
    const cdnUrl = deliveryAddress(credential.cdnUrl, base)
    if (cdnUrl === null) return bad(badAddress('upload', 'cdn_url'))
    // The address is stored and shown. A key as short as a word may be part of it by chance.
    if (cdnUrl.includes(apiKey)) return bad(ownFailure('upload', 'HOST_ADDRESS', because('address_with_key')))
    return { ok: true, value: { ...credential, cdnUrl: showsCredential(cdnUrl, uploadUrl) ? null : cdnUrl } }
  }

  /** §4.2: sends a picture to the upload node that its credential names, once and without the API key. */
  async send(credential: Credential, picture: PictureBody, signal: AbortSignal): Promise<Outcome<Sent>> {
    const { secrets } = this.#connection
    const passage = this.#passageOf(credential, picture)
    secrets.add(credential.uploadUrl)
    try {
      return await this.#send(credential, picture, passage, signal)
    } finally {
      passage.leave()
      secrets.forget(credential.uploadUrl)
    }
  }

  async #send(
    credential: Credential,
    picture: PictureBody,
    passage: Passage,
    signal: AbortSignal,
  ): Promise<Outcome<Sent>> {
    const { base, apiKey, secrets, gate, http } = this.#connection
    const address = givenAddress(credential.uploadUrl, base)
    if (!address) return { ok: false, failure: badAddress('send', 'upload_url') }
    const { where } = address
    const { imageId: promised } = credential
    const schema: z.ZodType<Answer> = promised === null ? answers.send : answers.sendPresigned
    const readOutcome = answerReader({ endpoint: 'send', schema, where, secrets })
    const sent = await gate.pass('send', signal, async (onStart): Promise<Attempt<Answer>> => {
      const { contentType, ...form } = multipartOf(picture)
      const request: HttpRequest = {
        method: 'POST',
        address,
        headers: { ...COMMON_HEADERS, 'content-type': contentType },
        body: this.#bodyOf(form, address, passage, signal),
        limitMs: passage.leftMs(),
        onStart() {
          // After the credential has expired by this machine's clock, no byte leaves. So when the node refuses a credential in
          // time, another copy of this request may have used it, and no other credential is asked for.
          if (passage.leftMs() <= 0) throw new CredentialExpired()
          onStart()
          passage.began()
        },
        isOwn: answer => isOfCredential(readOutcome(answer), credential),
      }
      let result: HttpResult
      try {
        result = await http.exchange(request, signal)
      } catch (error) {
        if (error instanceof PictureChanged)
          return endedHere(ownFailure('send', 'PICTURE_CHANGED', because('picture_changed')))
        if (error instanceof CredentialExpired) {
          const expired = ownFailure('send', 'CREDENTIAL_EXPIRED', because('credential_expired'))
          return endedHere({ ...expired, unsent: true })
        }
        throw error
      }
      if (result.kind === 'silence' && result.overLimit) {
        const slow = passage.expired()
        if (result.left !== 'all') return endedHere(this.#outOfTime(slow))
      }
      const attempt = attemptOf(readOutcome(result), result)
      if (attempt.outcome.ok) {
        passage.arrived()
        if (!http.isWriting()) picture.released?.()
      }
      return attempt
    })
    if (!sent.ok) {
      const { code, remedy, status } = sent.failure
      const isRefused = remedy === 'refused_by_node' && status !== undefined && code !== 'HOST_ANSWER'
      const aged = isRefused && this.#line.lives.mayBeTooOld(passage.age)
      return aged ? { ok: false, failure: { ...sent.failure, aged } } : sent
    }
    const { image_id = promised, cdn_url } = sent.value
    const cdnUrl = cdn_url === undefined ? null : deliveryAddress(cdn_url, base)
    const isSecret = cdnUrl !== null && [apiKey, credential.uploadUrl].some(secret => cdnUrl.includes(secret))
    return { ok: true, value: { imageId: image_id, cdnUrl: isSecret ? null : cdnUrl } }
  }

  /** Pieces show how much of a picture the system has taken, but cost more than one write. Without TLS the host is on this machine,
   * and the system takes a small picture before the host has read any of it. So there pieces would show nothing. */
  #bodyOf(
    { length, whole, chunks }: Omit<ReturnType<typeof multipartOf>, 'contentType'>,
    { secure }: Address,
    passage: Passage,
    signal: AbortSignal,
  ): Uint8Array | ChunkedBody {
    if (!whole || secure || length > TAKEN_AT_ONCE || !this.#bandwidth.isUnlimited)
      return { length, chunks: paced(chunks, this.#bandwidth, passage, signal) }
    passage.left = 0
    return whole
  }

  /** The failure when the credential expired before the last byte left. `slow`: the picture had the line for itself. */
  #outOfTime(slow: Slowness | null): HostFailure {
    if (slow) return tooSlow('send', slow, this.#options.credentialLifetimeMs)
    return ownFailure('send', 'GAVE_WAY', because('gave_way'))
  }

  /** The place of a credential on the line. A credential without one gets a new one, without waiting. */
  #passageOf({ uploadUrl }: Credential, { size }: PictureBody): Passage {
    const granted = this.#granted.get(uploadUrl)
    this.#granted.delete(uploadUrl)
    if (granted) return granted
    const passage = this.#line.admit(size)
    passage.granted()
    return passage
  }

  /** Remembers a credential's place on the line until the picture is sent, and forgets credentials that have expired. */
  #keep({ uploadUrl }: Credential, passage: Passage): void {
    const { secrets } = this.#connection
    for (const [url, unused] of this.#granted) {
      if (unused.leftMs() > 0) continue
      this.#granted.delete(url)
      secrets.forget(url)
    }
    this.#granted.get(uploadUrl)?.leave()
    secrets.add(uploadUrl)
    this.#granted.set(uploadUrl, passage)
    passage.granted()
  }
}

class CredentialExpired extends Error {}

type Answer = z.infer<typeof answers.send> | z.infer<typeof answers.sendPresigned>

/** Whether an answer is that to the credential: it names the address or id that came with it. A refusal names neither. */
function isOfCredential(answer: Outcome<Answer>, { cdnUrl, imageId }: Credential): boolean {
  return (
    answer.ok && ((cdnUrl !== null && answer.value.cdn_url === cdnUrl) || answer.value.image_id === imageId)
  )
}

/** The attempt when albumd itself ended the upload, which says nothing about the state of the host. */
function endedHere<T>(failure: HostFailure): Attempt<T> {
  return { outcome: { ok: false, failure }, status: null, pace: NO_PACE }
}

/** §4.2: a multipart/form-data body whose only part, `file`, is the picture, and whose length is known before it is sent.
 * The closing boundary comes last. While it is missing, the host can't mistake half a picture for a whole one. */
export function multipartOf(picture: PictureBody) {
  const boundary = `albumd-${randomUUID()}`
  // The file name is written as browsers write it (WHATWG HTML, 4.10.21.8).
  const name = picture.fileName.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const head = Buffer.from(
    `--${boundary}\r\n` +
      `Content-Disposition: form-data; name="${FILE_PART}"; filename="${name}"\r\n` +
      `Content-Type: ${picture.mime}\r\n\r\n`,
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const whole = picture.framed?.(head, tail) ?? null
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: head.length + picture.size + tail.length,
    /** Null: it is not in memory in one piece. */
    whole,
    chunks: whole ? [whole] : framed(head, picture, tail),
  }
}

async function* framed(head: Uint8Array, picture: PictureBody, tail: Uint8Array): AsyncGenerator<Uint8Array> {
  yield head
  let size = 0
  for await (const chunk of picture.bytes ? [picture.bytes] : picture.chunks()) {
    size += chunk.byteLength
    if (size > picture.size) throw new PictureChanged('the picture grew while it was being sent')
    yield chunk
  }
  if (size < picture.size) throw new PictureChanged('the picture shrank while it was being sent')
  yield tail
}
