import type { z } from 'zod'
import { PATHS, PRESIGN_PATH } from '../protocol/endpoints.ts'
import { answers, type PresignRequest, type UploadRequest } from '../protocol/records.ts'
import { ask, type Connection, type Question } from './ask.ts'
import { addressWithSecret, badAddress, noAlbumInPresign } from './failures.ts'
import type { Credential, Outcome } from './host.ts'
import { givenAddress } from './http/address.ts'

/** How many of the latest credentials are remembered: far more than are granted between an answer and its second copy. */
const REMEMBERED = 1000
/** Shorter values in an address's query are words, not credentials. */
const SHORTEST_SECRET = 16

/** §4.1. */
export function askCredential(
  connection: Connection,
  known: KnownCredentials,
  json: UploadRequest,
  signal: AbortSignal,
): Promise<Outcome<Credential>> {
  const question = { below: connection.base, path: PATHS.upload, json, schema: answers.upload }
  const read = ({ data: { upload_url, cdn_url } }: z.infer<typeof answers.upload>) => ({
    uploadUrl: upload_url,
    cdnUrl: cdn_url,
    imageId: null,
  })
  return askFor(connection, known, question, read, signal)
}

/** §4.3, which knows neither albums nor dimensions. */
export async function askPresigned(
  connection: Connection,
  known: KnownCredentials,
  { file_name, file_size, mime_type, album_id }: UploadRequest,
  signal: AbortSignal,
): Promise<Outcome<Credential>> {
  if (album_id !== undefined) return { ok: false, failure: noAlbumInPresign() }
  const json: PresignRequest = { file_name, file_size, mime_type }
  const question = { below: connection.site, path: PRESIGN_PATH, json, schema: answers.presign }
  const read = ({ upload_url, upload_token, image_id }: z.infer<typeof answers.presign>) => {
    const joint = upload_url.includes('?') ? '&' : '?'
    const uploadUrl = `${upload_url}${joint}token=${encodeURIComponent(upload_token)}`
    return { uploadUrl, cdnUrl: null, imageId: image_id }
  }
  return askFor(connection, known, question, read, signal)
}

type CredentialQuestion<T> = Pick<Question<T>, 'below' | 'path' | 'schema'> & {
  json: UploadRequest | PresignRequest
}

/** `read`: the credential in a success. */
async function askFor<T>(
  connection: Connection,
  known: KnownCredentials,
  question: CredentialQuestion<T>,
  read: (answer: T) => Credential,
  signal: AbortSignal,
): Promise<Outcome<Credential>> {
  const { json } = question
  const fits = (answer: T) => !known.isForAnother(read(answer).uploadUrl, json)
  const answer = await ask(connection, { endpoint: 'upload', method: 'POST', ...question, fits }, signal)
  if (!answer.ok) return answer
  const credential = read(answer.value)
  known.add(credential.uploadUrl, json)
  return checked(connection, credential)
}

/** Refuses a credential whose addresses must not be used, or whose delivery address shows a secret. */
function checked({ base, apiKey }: Connection, credential: Credential): Outcome<Credential> {
  const { uploadUrl, cdnUrl } = credential
  const bad = (field: string): Outcome<Credential> => ({
    ok: false,
    failure: badAddress('upload', 'change_request', field),
  })
  if (!givenAddress(uploadUrl, base)) return bad('upload_url')
  if (cdnUrl === null) return { ok: true, value: credential }
  if (!givenAddress(cdnUrl, base)) return bad('cdn_url')
  const inQuery = [...new URL(uploadUrl).searchParams.values()].filter(
    value => value.length >= SHORTEST_SECRET,
  )
  if ([apiKey, uploadUrl, ...inQuery].some(secret => cdnUrl.includes(secret)))
    return { ok: false, failure: addressWithSecret() }
  return { ok: true, value: credential }
}

/**
 * What the latest credentials were asked for, by their addresses. A host, or a proxy in front of it, may send an answer
 * twice, and the second copy is then read as the answer to the next question on that connection.
 */
export class KnownCredentials {
  readonly #requests = new Map<string, string>()

  add(uploadUrl: string, request: UploadRequest | PresignRequest): void {
    this.#requests.set(uploadUrl, JSON.stringify(request))
    const [oldest] = this.#requests.keys()
    if (this.#requests.size > REMEMBERED) this.#requests.delete(oldest!)
  }

  /** Whether the credential was granted to another request before, so that it can't be the answer to `request`. */
  isForAnother(uploadUrl: string, request: UploadRequest | PresignRequest): boolean {
    const known = this.#requests.get(uploadUrl)
    return known !== undefined && known !== JSON.stringify(request)
  }
}
