import type { z } from 'zod'
import { PATHS, PRESIGN_PATH } from '../protocol/endpoints.ts'
import { answers, type PresignRequest, type UploadRequest } from '../protocol/records.ts'
import { ask, type Connection } from './ask.ts'
import { addressWithSecret, badAddress, noAlbumInPresign } from './failures.ts'
import type { Credential, Outcome } from './host.ts'
import { givenAddress } from './http/address.ts'

/** More credentials than are under way before an answer that came twice is noticed. */
const REMEMBERED = 1000
/** Shorter values in an address's query are words, not credentials. */
const SHORTEST_SECRET = 16

/** §4.1. */
export async function askCredential(
  connection: Connection,
  known: KnownCredentials,
  json: UploadRequest,
  signal: AbortSignal,
): Promise<Outcome<Credential>> {
  const { base: below } = connection
  const { upload: schema } = answers
  const fits = ({ data }: z.infer<typeof schema>) => !known.isForAnother(data.upload_url, json)
  const answer = await ask(
    connection,
    { endpoint: 'upload', method: 'POST', below, path: PATHS.upload, json, schema, fits },
    signal,
  )
  if (!answer.ok) return answer
  const { upload_url, cdn_url } = answer.value.data
  known.add(upload_url, json)
  return checked(connection, { uploadUrl: upload_url, cdnUrl: cdn_url, imageId: null })
}

/** §4.3, which knows neither albums nor dimensions. */
export async function askPresigned(
  connection: Connection,
  known: KnownCredentials,
  { file_name, file_size, mime_type, album_id }: UploadRequest,
  signal: AbortSignal,
): Promise<Outcome<Credential>> {
  if (album_id !== undefined) return { ok: false, failure: noAlbumInPresign() }
  const { site: below } = connection
  const json: PresignRequest = { file_name, file_size, mime_type }
  const { presign: schema } = answers
  const fits = (answer: Presigned) => !known.isForAnother(presigned(answer), json)
  const answer = await ask(
    connection,
    { endpoint: 'upload', method: 'POST', below, path: PRESIGN_PATH, json, schema, fits },
    signal,
  )
  if (!answer.ok) return answer
  const uploadUrl = presigned(answer.value)
  known.add(uploadUrl, json)
  return checked(connection, { uploadUrl, cdnUrl: null, imageId: answer.value.image_id })
}

type Presigned = z.infer<typeof answers.presign>

function presigned({ upload_url, upload_token }: Presigned): string {
  const joint = upload_url.includes('?') ? '&' : '?'
  return `${upload_url}${joint}token=${encodeURIComponent(upload_token)}`
}

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
