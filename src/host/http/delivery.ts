import type { Context } from 'hono'
import type { ImageRow } from '../data/images.ts'
import { answerTo } from '../decisions.ts'
import type { HostService } from '../host-service.ts'
import { Refusal } from '../refusal.ts'
import { failure } from './answers.ts'

/** The policy for delivered images. It forbids an SVG to run scripts and to fetch anything. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

/** An image at its delivery address (§4.3.3): GET and HEAD, without a key. */
export async function deliver(c: Context, service: HostService): Promise<Response> {
  const image = service.delivered(c.req.param('id')!)
  const tag = `"${image.sha256}"`
  const headers: Record<string, string> = {
    ETag: tag,
    'Last-Modified': new Date(image.created_at).toUTCString(),
    'Accept-Ranges': 'bytes',
    // Seconds for which the image may be kept without asking again.
    'Cache-Control': 'public, max-age=300',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': POLICY,
  }
  if (names(c.req.header('if-none-match'), tag)) return new Response(null, { status: 304, headers })

  const range = askedRange(c, image, tag)
  if (range === 'unsatisfiable') {
    const { code, status } = answerTo('badRange')
    const size = { 'Content-Range': `bytes */${image.size}` }
    return c.json(failure('The image has no such bytes.', code), status, size)
  }
  const { start, end } = range ?? { start: 0, end: image.size - 1 }
  headers['Content-Type'] = image.mime
  headers['Content-Length'] = String(end - start + 1)
  if (range) headers['Content-Range'] = `bytes ${start}-${end}/${image.size}`
  const body = c.req.method === 'HEAD' ? null : await bytesOf(service, image, { start, end })
  return new Response(body, { status: range ? 206 : 200, headers })
}

/** The range that a GET asks for, if its If-Range names the image's tag; null for the whole image. */
function askedRange(c: Context, image: ImageRow, tag: string): ByteRange | null | 'unsatisfiable' {
  const condition = c.req.header('if-range')
  if (c.req.method === 'HEAD' || (condition !== undefined && condition !== tag)) return null
  return readRange(c.req.header('range'), image.size)
}

/** Whether the header If-None-Match lists the tag. A tag matches also when it is written as a weak one (W/"…"). */
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

/** The bytes from `start` to `end`, both included. */
export interface ByteRange {
  start: number
  end: number
}

/** The range of `size` bytes that a header asks for; null for all, also of several ranges or none (RFC 9110). */
export function readRange(header: string | undefined, size: number): ByteRange | null | 'unsatisfiable' {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (!match || match[0] === 'bytes=-') return null
  const [first, last] = [match[1]!, match[2]!]
  if (first === '') return suffix(Number(last), size)
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return null
  return start < size ? { start, end } : 'unsatisfiable'
}

function suffix(length: number, size: number): ByteRange | 'unsatisfiable' {
  return length > 0 ? { start: Math.max(0, size - length), end: size - 1 } : 'unsatisfiable'
}
