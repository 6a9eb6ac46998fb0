import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { AlbumsInMemory } from './albums-in-memory.ts'
import type { SinkOptions, Taken } from './sink.ts'

/** The process of `startSink`. */
const albums = new AlbumsInMemory()
const none = (): Taken => ({ pictures: 0, bytes: 0, granted: 0, refused: 0 })
let taken = none()
let quotaLeft = Number.POSITIVE_INFINITY
let origin = ''

async function takeIn(request: IncomingMessage): Promise<void> {
  request.on('data', (chunk: Buffer) => {
    taken.bytes += chunk.length
  })
  await once(request, 'end')
  taken.pictures++
}

function answer(response: ServerResponse, data: object, status = 200): void {
  const body = JSON.stringify({ success: status === 200, ...data })
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

const deliveredAt = (id: string) => `${origin}/i/${id}`

async function api(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  const { pathname, searchParams } = url
  if (pathname === '/api/v1/upload') {
    const wanted = JSON.parse(await text(request))
    if (quotaLeft === 0) {
      taken.refused++
      return answer(response, { error: 'used up', code: 'DAILY_LIMIT_REACHED' }, 429)
    }
    quotaLeft--
    taken.granted++
    const id = albums.promise(wanted)
    answer(response, { data: { upload_url: `${origin}/node/${id}`, cdn_url: deliveredAt(id) } })
  } else if (pathname === '/api/v1/create_album') {
    const { name, parent_album } = JSON.parse(await text(request))
    answer(response, { data: { album: albums.create(name, parent_album ?? null) } })
  } else if (pathname === '/api/v1/list') {
    const listing = albums.list(searchParams.get('album_id') ?? '', Number(searchParams.get('page') ?? 1))
    answer(response, { data: { ...listing, cdn_base_url: origin } })
  } else response.writeHead(404).end()
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url!, origin)
  if (request.method === 'PUT') {
    await takeIn(request)
    response.writeHead(200, { 'content-length': 0 }).end()
  } else if (url.pathname.startsWith('/node/')) {
    await takeIn(request)
    const id = url.pathname.slice('/node/'.length)
    albums.keep(id)
    answer(response, { image_id: id, cdn_url: deliveredAt(id) })
  } else if (url.pathname.startsWith('/api/')) await api(request, response, url)
  else if (request.method === 'GET') response.end(EMPTY_BUCKET)
  else response.writeHead(404).end()
}

const EMPTY_BUCKET = `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Name>bench</Name><Prefix/><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>
</ListBucketResult>`

const server = createServer((request, response) => {
  // Whoever is killed while it sends leaves half a request.
  serve(request, response).catch(() => response.destroy())
})

process.once('message', ({ dailyQuota }: SinkOptions) => {
  quotaLeft = dailyQuota ?? quotaLeft
  server.listen(0, '127.0.0.1', () => {
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    process.on('message', () => {
      process.send!({ seen: taken })
      taken = none()
    })
    process.send!({ listening: { baseUrl: `${origin}/api/v1` } })
  })
})
process.once('SIGTERM', () => process.exit())
