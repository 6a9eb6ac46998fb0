import { randomUUID } from 'node:crypto'
import { FILE_PART } from '../../protocol/endpoints.ts'
import { type PictureBody, PictureChanged } from '../host.ts'
import type { ChunkedBody } from './exchange.ts'

/**
 * Progress is counted in chunks: a connection that takes less than one within the timeout is held for dead.
 */
const CHUNK = 256 * 1024

export interface MultipartBody extends ChunkedBody {
  contentType: string
}

/**
 * §4.2: a picture as the one part `file` of a multipart/form-data body whose length is known ahead. The
 * closing boundary is a chunk of its own and comes last: without it the host can't take what it has for a
 * whole picture.
 */
export function multipartOf(picture: PictureBody): MultipartBody {
  const boundary = `albumd-${randomUUID()}`
  const head = Buffer.from(
    `--${boundary}\r\n` +
      `Content-Disposition: form-data; name="${FILE_PART}"; filename="${escaped(picture.fileName)}"\r\n` +
      `Content-Type: ${picture.mime}\r\n\r\n`,
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: head.length + picture.size + tail.length,
    chunks: framed(head, picture, tail),
  }
}

async function* framed(head: Uint8Array, picture: PictureBody, tail: Uint8Array) {
  yield head
  let size = 0
  for await (const chunk of picture.bytes ? sliced(picture.bytes) : picture.chunks()) {
    size += chunk.byteLength
    if (size > picture.size) throw new PictureChanged('the picture grew while it was being sent')
    yield chunk
  }
  if (size < picture.size) throw new PictureChanged('the picture shrank while it was being sent')
  yield tail
}

function* sliced(bytes: Uint8Array) {
  for (let at = 0; at < bytes.byteLength; at += CHUNK) yield bytes.subarray(at, at + CHUNK)
}

/** As browsers write it (WHATWG HTML, 4.10.21.8). */
function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
