import type { z } from 'zod'
import { PATHS, PRESIGN_PATH } from '../protocol/endpoints.ts'
import { answers, type PresignRequest, type UploadRequest } from '../protocol/records.ts'
import { ask, type Connection, type Question } from './ask.ts'
import { addressWithKey, badAddress, noAlbumInPresign } from './failures.ts'
import type { Credential, Outcome } from './host.ts'
import { deliveryAddress, givenAddress } from './http/address.ts'
import { showsCredential } from './secrets.ts'

/** How many of the latest credentials are remembered: far more than are granted between an answer and its second copy. */
const REMEMBERED = 1000

/** Asks for credentials in one of the two forms of step 1. */
export class Credentials {
  readonly #connection: Connection
  readonly #form: 'credential' | 'presign'
  /**
   * The requests that the latest credentials were granted to, by their addresses. A host, or a proxy in front of it, may
   * send an answer twice, and the second copy is then read as the answer to the next question on that connection.
   */
  readonly #requests = new Map<string, string>()

  constructor(connection: Connection, form: 'credential' | 'presign') {
    this.#connection = connection
    this.#form = form
  }

  async ask(request: UploadRequest, signal: AbortSignal): Promise<Outcome<Credential>> {
    const { base, site } = this.#connection
    if (this.#form === 'credential') {
      const question = { below: base, path: PATHS.upload, json: request, schema: answers.upload }
      const read = ({ data: { upload_url, cdn_url } }: z.infer<typeof answers.upload>) => ({
        uploadUrl: upload_url,
        cdnUrl: cdn_url ?? null,
        imageId: null,
      })
      return this.#ask({ ...question, read }, signal)
    }
    const { file_name, file_size, mime_type, album_id } = request
    if (album_id !== undefined) return { ok: false, failure: noAlbumInPresign() }
    const json: PresignRequest = { file_name, file_size, mime_type }
    const question = { below: site, path: PRESIGN_PATH, json, schema: answers.presign }
    const read = ({ upload_url, upload_token, image_id }: z.infer<typeof answers.presign>) => {
      const joint = upload_url.includes('?') ? '&' : '?'
      const uploadUrl = `${upload_url}${joint}token=${encodeURIComponent(upload_token)}`
      return { uploadUrl, cdnUrl: null, imageId: image_id }
    }
    return this.#ask({ ...question, read }, signal)
  }

  async #ask<T>(
    question: Pick<Question<T, Credential>, 'below' | 'path' | 'json' | 'schema' | 'read'>,
    signal: AbortSignal,
  ): Promise<Outcome<Credential>> {
    const request = JSON.stringify(question.json)
    const fits = (answer: T) => (this.#requests.get(question.read(answer).uploadUrl) ?? request) === request
    const answer = await ask(
      this.#connection,
      { endpoint: 'upload', method: 'POST', ...question, fits },
      signal,
    )
    if (!answer.ok) return answer
    this.#requests.set(answer.value.uploadUrl, request)
    const [oldest] = this.#requests.keys()
    if (this.#requests.size > REMEMBERED) this.#requests.delete(oldest!)
    return checked(this.#connection, answer.value)
  }
}

/**
 * Refuses a credential whose addresses must not be used, or whose delivery address shows the API key. A delivery address
 * that shows the credential is left out until the picture was sent, because the journal would store the address.
 */
function checked({ base, apiKey }: Connection, credential: Credential): Outcome<Credential> {
  const { uploadUrl } = credential
  const bad = (field: string): Outcome<Credential> => ({
    ok: false,
    failure: { ...badAddress('upload', 'change_request', field), issued: true },
  })
  if (!givenAddress(uploadUrl, base)) return bad('upload_url')
  if (credential.cdnUrl === null) return { ok: true, value: credential }
  const cdnUrl = deliveryAddress(credential.cdnUrl, base)
  if (cdnUrl === null) return bad('cdn_url')
  if (cdnUrl.includes(apiKey)) return { ok: false, failure: { ...addressWithKey(), issued: true } }
  return { ok: true, value: { ...credential, cdnUrl: showsCredential(cdnUrl, uploadUrl) ? null : cdnUrl } }
}
