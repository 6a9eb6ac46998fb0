import { randomUUID } from 'node:crypto'
import { FILE_PART } from '../../protocol/endpoints.ts'
import { type PictureBody, PictureChanged } from '../host.ts'
import type { ChunkedBody } from './exchange.ts'

export interface MultipartBody extends ChunkedBody {
  contentType: string
}

/**
 * §4.2: a picture as the only part, `file`, of a multipart/form-data body whose length is known before. The closing
 * boundary is a chunk of its own and comes last: without the boundary the host can't mistake half a picture for a whole.
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
  for await (const chunk of picture.bytes ? [picture.bytes] : picture.chunks()) {
    size += chunk.byteLength
    if (size > picture.size) throw new PictureChanged('the picture grew while it was being sent')
    yield chunk
  }
  if (size < picture.size) throw new PictureChanged('the picture shrank while it was being sent')
  yield tail
}

/** As browsers write a file name (WHATWG HTML, 4.10.21.8). */
function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
