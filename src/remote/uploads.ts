import type { z } from 'zod'
import { answers, type UploadRequest } from '../protocol/records.ts'
import { attemptOf, COMMON_HEADERS, type Connection, readAnswer } from './ask.ts'
import type { Clock } from './clock.ts'
import { Credentials } from './credentials.ts'
import { badAddress, cancelled, changedUnderway, credentialExpired, gaveWay, tooSlow } from './failures.ts'
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
import { deliveryAddress, givenAddress } from './http/address.ts'
import type { HttpResult } from './http/exchange.ts'
import { multipartOf } from './http/multipart.ts'
import { Line, type Passage } from './line/line.ts'
import { Bandwidth, LineTooSlow, paced } from './line/pacing.ts'

export interface UploadsOptions {
  /** §4.1 or §4.3. */
  uploadForm: 'credential' | 'presign'
  /** The most that all uploads together may send, in bytes a second. Left out: no limit. */
  bandwidth?: number
  clock: Clock
  /** How long a credential may be used (§8), in milliseconds, and so the longest that an upload may take. */
  credentialLifetimeMs: number
}

/** §4.1 to §4.3: asks for credentials, and sends pictures over the line that all uploads share. */
export class Uploads {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #lifetimeMs: number
  readonly #line: Line
  readonly #bandwidth: Bandwidth
  /** The passages of credentials that were granted and not used yet, by the credential's address. */
  readonly #granted = new Map<string, Passage>()
  readonly #credentials: Credentials

  constructor(connection: Connection, options: UploadsOptions) {
    const { uploadForm, clock, credentialLifetimeMs, bandwidth = Number.POSITIVE_INFINITY } = options
    this.#connection = connection
    this.#clock = clock
    this.#lifetimeMs = credentialLifetimeMs
    this.#credentials = new Credentials(connection, uploadForm)
    this.#line = new Line({ clock, lifetimeMs: credentialLifetimeMs, ceiling: bandwidth })
    this.#bandwidth = new Bandwidth(bandwidth, clock)
  }

  /** Waits for room on the line first, because a credential's life begins when the credential is granted. */
  async request(request: UploadRequest, signal: AbortSignal): Promise<Outcome<Credential>> {
    const entered = await this.#line.enter(request.file_size, signal)
    if (!entered) return { ok: false, failure: cancelled('upload', 'nothing') }
    if ('slow' in entered) return { ok: false, failure: tooSlow('upload', entered.slow, this.#lifetimeMs) }
    const { passage } = entered
    try {
      const answer = await this.#credentials.ask(request, signal)
      if (answer.ok) this.#keep(answer.value, passage)
      else passage.leave()
      return answer
    } catch (error) {
      passage.leave()
      throw error
    }
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
    if (!address) return { ok: false, failure: badAddress('send', 'change_request', 'upload_url') }
    const reading = { endpoint: 'send', schema: answers.send, where: address.where, secrets } as const
    const sent = await gate.pass('send', signal, async (onStart): Promise<Attempt<Answer>> => {
      const limitMs = passage.leftMs()
      if (limitMs <= 0) return endedHere(credentialExpired())
      const whole = multipartOf(picture)
      const chunks = paced(whole.chunks, { bandwidth: this.#bandwidth, passage, clock: this.#clock }, signal)
      const body = { length: whole.length, chunks }
      const headers = { ...COMMON_HEADERS, 'content-type': whole.contentType }
      const isOwn = (answer: HttpResult) => isOfCredential(readAnswer(reading, answer), credential)
      const request = { method: 'POST', address, headers, body, limitMs, onStart, isOwn } as const
      let result: HttpResult
      try {
        result = await http.exchange(request, signal)
      } catch (error) {
        if (error instanceof PictureChanged) return endedHere(changedUnderway())
        if (error instanceof LineTooSlow) return endedHere(this.#outOfTime(picture))
        throw error
      }
      const isOver = result.kind === 'silence' && result.left !== 'all' && result.overLimit
      if (isOver) return endedHere(this.#outOfTime(picture))
      const attempt = attemptOf(reading, result)
      if (attempt.outcome.ok) {
        passage.arrived()
        if (!http.isWriting()) picture.released?.()
      }
      return attempt
    })
    if (!sent.ok) return sent
    const { image_id, cdn_url } = sent.value
    const cdnUrl = cdn_url === undefined ? null : deliveryAddress(cdn_url, base)
    const isSecret = cdnUrl !== null && [apiKey, credential.uploadUrl].some(secret => cdnUrl.includes(secret))
    return { ok: true, value: { imageId: image_id, cdnUrl: isSecret ? null : cdnUrl } }
  }

  /** The failure of an upload that was ended because its credential would expire first. Its last byte has not left. */
  #outOfTime({ size }: PictureBody): HostFailure {
    const slow = this.#line.tooSlowFor(size)
    return slow ? tooSlow('send', slow, this.#lifetimeMs) : gaveWay()
  }

  /** The passage under which the credential was asked for. A credential from elsewhere gets a new one, without waiting. */
  #passageOf({ uploadUrl }: Credential, { size }: PictureBody): Passage {
    const granted = this.#granted.get(uploadUrl)
    this.#granted.delete(uploadUrl)
    if (granted) return granted
    const passage = this.#line.admit(size)
    passage.granted()
    return passage
  }

  /** Keeps a credential's passage until its picture is sent, and forgets credentials that have expired. */
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

type Answer = z.infer<typeof answers.send>

/**
 * Whether an answer certainly belongs to this credential: it names the delivery address or the id that the credential
 * promised. A refusal names neither, so its connection is not used again.
 */
function isOfCredential(answer: Outcome<Answer>, { cdnUrl, imageId }: Credential): boolean {
  return (
    answer.ok && ((cdnUrl !== null && answer.value.cdn_url === cdnUrl) || answer.value.image_id === imageId)
  )
}

/** albumd ended the upload by itself: it says nothing about the state of the host. */
function endedHere<T>(failure: HostFailure): Attempt<T> {
  return { outcome: { ok: false, failure }, status: null, pace: NO_PACE }
}
