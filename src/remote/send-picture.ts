import { answers } from '../protocol/records.ts'
import { givenAddress } from './address.ts'
import { attemptOf, COMMON_HEADERS, type Connection } from './connection.ts'
import { badAddress, changedUnderway } from './failures.ts'
import type { Attempt } from './gate.ts'
import { type Credential, type Outcome, type PictureBody, PictureChanged, type Sent } from './host.ts'
import type { Http } from './http.ts'
import { secretsOfAddress } from './message.ts'
import { multipartOf } from './multipart.ts'
import { NO_PACE } from './rate-headers.ts'
import type { Reading } from './read-answer.ts'

/** §4.2: a picture to the upload node that its credential names, once and without the API key. */
export async function sendPicture(
  { base, apiKey, gate, http }: Connection,
  { uploadUrl }: Credential,
  picture: PictureBody,
  /** The longest that it may take, in milliseconds (§8). */
  limitMs: number,
  signal: AbortSignal,
): Promise<Outcome<Sent>> {
  const address = givenAddress(uploadUrl, base)
  if (!address) return { ok: false, failure: badAddress('send', 'change_request', 'upload_url') }
  const secrets = [apiKey, ...secretsOfAddress(uploadUrl)]
  const reading = { endpoint: 'send', schema: answers.send, where: address.where, secrets } as const
  const sent = await gate.pass('send', signal, onStart => {
    const body = multipartOf(picture)
    const headers = { ...COMMON_HEADERS, 'content-type': body.contentType }
    return unlessChanged(
      reading,
      http.exchange({ method: 'POST', address, headers, body, limitMs, onStart }, signal),
    )
  })
  if (!sent.ok) return sent
  const { image_id, cdn_url } = sent.value
  if (!givenAddress(cdn_url, base)) return { ok: false, failure: badAddress('send', 'find_out', 'cdn_url') }
  return { ok: true, value: { imageId: image_id, cdnUrl: cdn_url } }
}

async function unlessChanged<T>(
  reading: Reading<T>,
  exchange: ReturnType<Http['exchange']>,
): Promise<Attempt<T>> {
  try {
    return attemptOf(reading, await exchange)
  } catch (error) {
    if (!(error instanceof PictureChanged)) throw error
    return { outcome: { ok: false, failure: changedUnderway() }, status: null, pace: NO_PACE }
  }
}
