import { PATHS, PRESIGN_PATH } from '../protocol/endpoints.ts'
import { answers, type PresignRequest, type UploadRequest } from '../protocol/records.ts'
import { givenAddress } from './address.ts'
import { ask } from './ask.ts'
import type { Connection } from './connection.ts'
import { badAddress, noAlbumInPresign } from './failures.ts'
import type { Credential, Outcome } from './host.ts'

/** §4.1. */
export async function askCredential(
  connection: Connection,
  json: UploadRequest,
  signal: AbortSignal,
): Promise<Outcome<Credential>> {
  const { base: below } = connection
  const { upload: schema } = answers
  const answer = await ask(
    connection,
    { endpoint: 'upload', method: 'POST', below, path: PATHS.upload, json, schema },
    signal,
  )
  if (!answer.ok) return answer
  const { upload_url, cdn_url } = answer.value.data
  return checked(connection, { uploadUrl: upload_url, cdnUrl: cdn_url, imageId: null })
}

/** §4.3, which knows neither albums nor dimensions. */
export async function askPresigned(
  connection: Connection,
  { file_name, file_size, mime_type, album_id }: UploadRequest,
  signal: AbortSignal,
): Promise<Outcome<Credential>> {
  if (album_id !== undefined) return { ok: false, failure: noAlbumInPresign() }
  const { site: below } = connection
  const { presign: schema } = answers
  const json: PresignRequest = { file_name, file_size, mime_type }
  const answer = await ask(
    connection,
    { endpoint: 'upload', method: 'POST', below, path: PRESIGN_PATH, json, schema },
    signal,
  )
  if (!answer.ok) return answer
  const { upload_url, upload_token, image_id } = answer.value
  const joint = upload_url.includes('?') ? '&' : '?'
  const uploadUrl = `${upload_url}${joint}token=${encodeURIComponent(upload_token)}`
  return checked(connection, { uploadUrl, cdnUrl: null, imageId: image_id })
}

function checked({ base, apiKey }: Connection, credential: Credential): Outcome<Credential> {
  const { uploadUrl, cdnUrl } = credential
  const bad = (field: string): Outcome<Credential> => ({
    ok: false,
    failure: badAddress('upload', 'change_request', field),
  })
  if (!givenAddress(uploadUrl, base)) return bad('upload_url')
  if (cdnUrl !== null && !givenAddress(cdnUrl, base)) return bad('cdn_url')
  // It is stored and shown, which a secret must never be.
  if (
    cdnUrl !== null &&
    [apiKey, uploadUrl, ...queryValues(uploadUrl)].some(secret => cdnUrl.includes(secret))
  )
    return bad('cdn_url')
  return { ok: true, value: credential }
}

/** Short ones are words. */
function queryValues(url: string): string[] {
  return [...new URL(url).searchParams.values()].filter(value => value.length >= 16)
}
