import type { Context } from 'hono'
import type { HostService } from '../host-service.ts'
import { Refusal } from '../refusal.ts'

/** The policy for delivered images. It forbids an SVG to run scripts and to fetch anything. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

/** An image at its delivery address (§4.3.3), whole: GET and HEAD, without a key. */
export async function deliver(c: Context, service: HostService): Promise<Response> {
  const image = service.delivered(c.req.param('id')!)
  const headers = {
    'Content-Type': image.mime,
    'Content-Length': String(image.size),
    'Last-Modified': new Date(image.created_at).toUTCString(),
    // For how many seconds a browser may keep the image without asking again.
    'Cache-Control': 'public, max-age=300',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': POLICY,
  }
  if (c.req.method === 'HEAD') return new Response(null, { headers })
  try {
    return new Response(await service.readPicture(image.file), { headers })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Refusal('NOT_FOUND', 'The image is gone.')
  }
}
