import type { Context } from 'hono'
import { DECIDED_CODES, DECISIONS } from '../../protocol/decisions.ts'
import type { ImageRow } from '../data/images.ts'
import type { HostService } from '../host-service.ts'
import { Refusal } from '../refusal.ts'
import { failure } from './answers.ts'
import { type ByteRange, readRange } from './byte-range.ts'

/** A picture may be an SVG with scripts in it: they don't run, nor does it fetch anything. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

/** An image at its delivery address (§4.3.3): GET and HEAD, without a key. */
export async function deliver(c: Context, service: HostService, imageId: string): Promise<Response> {
  const image = service.delivered(imageId)
  const tag = `"${image.sha256}"`
  const headers: Record<string, string> = {
    ETag: tag,
    'Last-Modified': new Date(image.created_at).toUTCString(),
    'Accept-Ranges': 'bytes',
    'Cache-Control': `public, max-age=${DECISIONS.deliveryMaxAge}`,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': POLICY,
  }
  if (names(c.req.header('if-none-match'), tag)) return new Response(null, { status: 304, headers })

  const range = askedRange(c, image, tag)
  if (range === 'unsatisfiable')
    return c.json(failure('The image has no such bytes.', DECIDED_CODES.badRange), 416, {
      'Content-Range': `bytes */${image.size}`,
    })
  const { start, end } = range ?? { start: 0, end: image.size - 1 }
  headers['Content-Type'] = image.mime
  headers['Content-Length'] = String(end - start + 1)
  if (range) headers['Content-Range'] = `bytes ${start}-${end}/${image.size}`
  const body = c.req.method === 'HEAD' ? null : await bytesOf(service, image, { start, end })
  return new Response(body, { status: range ? 206 : 200, headers })
}

/** Ranges are for GET alone, and for the very bytes that If-Range names. */
function askedRange(c: Context, image: ImageRow, tag: string): ByteRange | null | 'unsatisfiable' {
  const condition = c.req.header('if-range')
  if (c.req.method === 'HEAD' || (condition !== undefined && condition !== tag)) return null
  return readRange(c.req.header('range'), image.size)
}

/** Whether If-None-Match lists the tag. It compares weakly. */
function names(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some(part => part.trim() === '*' || part.trim().replace(/^W\//, '') === tag)
}

async function bytesOf(service: HostService, image: ImageRow, { start, end }: ByteRange) {
  try {
    return await service.readPicture(image.file, start, end)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Refusal('NOT_FOUND', 'The image is gone.')
  }
}
