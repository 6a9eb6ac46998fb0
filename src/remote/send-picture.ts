import type { z } from 'zod'
import { answers } from '../protocol/records.ts'
import { badAddress, changedUnderway, credentialExpired, gaveWay, tooSlow } from './failures.ts'
import type { Attempt } from './gate/gate.ts'
import { NO_PACE } from './gate/rate-headers.ts'
import {
  type Credential,
  type HostFailure,
  type Outcome,
  type PictureBody,
  PictureChanged,
  type Sent,
} from './host.ts'
import { givenAddress } from './http/address.ts'
import { attemptOf, COMMON_HEADERS, type Connection } from './http/connection.ts'
import type { HttpResult } from './http/exchange.ts'
import { multipartOf } from './http/multipart.ts'
import { readAnswer } from './http/read-answer.ts'
import type { Line, Passage } from './line/line.ts'
import { LineTooSlow, type Pacing, paced } from './line/paced-body.ts'

export interface SendingParts extends Pacing {
  connection: Connection
  line: Line
  /** Of a credential (§8), in milliseconds. */
  lifetimeMs: number
  passage: Passage
}

/** §4.2: a picture to the upload node that its credential names, once and without the API key. */
export async function sendPicture(
  parts: SendingParts,
  credential: Credential,
  picture: PictureBody,
  signal: AbortSignal,
): Promise<Outcome<Sent>> {
  const { connection, passage } = parts
  const { base, secrets, gate, http } = connection
  const { uploadUrl } = credential
  const address = givenAddress(uploadUrl, base)
  if (!address) return { ok: false, failure: badAddress('send', 'change_request', 'upload_url') }
  const reading = { endpoint: 'send', schema: answers.send, where: address.where, secrets } as const
  const sent = await gate.pass('send', signal, async (onStart): Promise<Attempt<Answer>> => {
    const limitMs = passage.leftMs()
    if (limitMs <= 0) return ours(credentialExpired())
    const whole = multipartOf(picture)
    const body = { length: whole.length, chunks: paced(whole.chunks, parts, signal) }
    const headers = { ...COMMON_HEADERS, 'content-type': whole.contentType }
    const isOwn = (answer: HttpResult) => keepsPromise(readAnswer(reading, answer), credential)
    const request = { method: 'POST', address, headers, body, limitMs, onStart, isOwn } as const
    let result: HttpResult
    try {
      result = await http.exchange(request, signal)
    } catch (error) {
      if (error instanceof PictureChanged) return ours(changedUnderway())
      if (error instanceof LineTooSlow) return ours(outOfTime(parts, picture))
      throw error
    }
    const isOver = result.kind === 'silence' && result.left !== 'all' && result.overLimit
    if (isOver) return ours(outOfTime(parts, picture))
    const attempt = attemptOf(reading, result)
    if (attempt.outcome.ok) {
      passage.arrived()
      if (!http.isWriting()) picture.released?.()
    }
    return attempt
  })
  if (!sent.ok) return sent
  const { image_id, cdn_url } = sent.value
  if (!givenAddress(cdn_url, base)) return { ok: false, failure: badAddress('send', 'find_out', 'cdn_url') }
  return { ok: true, value: { imageId: image_id, cdnUrl: cdn_url } }
}

type Answer = z.infer<typeof answers.send>

/** A refusal does not say of which picture it is, and where another address is answered than was told, who knows. */
function keepsPromise(answer: Outcome<Answer>, { cdnUrl, imageId }: Credential): boolean {
  return answer.ok && (answer.value.cdn_url === cdnUrl || answer.value.image_id === imageId)
}

/** Nothing that the host said, and no trouble of its. */
function ours<T>(failure: HostFailure): Attempt<T> {
  return { outcome: { ok: false, failure }, status: null, pace: NO_PACE }
}

/** The last byte never left. */
function outOfTime({ line, lifetimeMs }: SendingParts, { size }: PictureBody): HostFailure {
  const slow = line.tooSlowFor(size)
  return slow ? tooSlow('send', slow, lifetimeMs) : gaveWay()
}
