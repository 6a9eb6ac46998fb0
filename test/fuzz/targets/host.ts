import net, { type AddressInfo } from 'node:net'
import type { z } from 'zod'
import { ENDPOINTS, type Endpoint } from '../../../src/protocol/endpoints.ts'
import { answers } from '../../../src/protocol/records.ts'
import { answerReader } from '../../../src/remote/ask.ts'
import { openImageHost } from '../../../src/remote/client.ts'
import type { ImageHost, Outcome } from '../../../src/remote/host.ts'
import { walkEverything } from '../../../src/sync/listing/index.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { must, type Target } from './target.ts'

const KEY = 'key-0123456789-secret'
const signal = new AbortController().signal

const IMAGE = {
  id: 'i1',
  name: 'a b.png',
  size: '1.2 MB',
  width: 640,
  height: 480,
  time: '2026-05-03T09:41:12Z',
}
const ALBUM = {
  id: 'a1',
  name: 'Coast',
  depth: 1,
  image_count: 1,
  sub_count: 0,
  created_at: '2026-05-03T09:41:12Z',
}
const pagination = { page: 1, per_page: 20, total_pages: 2, total_images: 2 }
const page = (data: object) => ({ success: true, data: { albums: [], images: [], pagination, ...data } })

const GOOD: readonly object[] = [
  page({ albums: [ALBUM], images: [IMAGE, { ...IMAGE, id: 7 }], cdn_base_url: 'https://cdn.example' }),
  {
    success: true,
    data: { upload_url: 'https://node.example/u?token=0123456789abcdef', cdn_url: 'https://cdn.example/i/1' },
  },
  { success: true, image_id: 'i1', cdn_url: 'https://cdn.example/i/i1' },
  { upload_token: 'token-0123456789', upload_url: '/upload', image_id: 'i1' },
  { success: true, data: { deleted_albums: '1', deleted_images: 2 } },
  { success: true, data: { album: { id: 12 } } },
  { success: false, error: `no ${KEY} at https://x.example/y`, code: 'RATE_LIMITED' },
  { error: 'bare', code: 'DAILY_LIMIT_REACHED' },
]

// biome-ignore format: a list.
const WORDS = [
  'null', 'true', 'false', '0', '-1', '1e999', '9007199254740993', '""', '[]', '{}', '[', ']', '{', '}', ',',
  '"id"', '"success"', '"data"', '"images"', '"albums"', '"pagination"', '"total_pages"', '"code"', '"error"',
  '"__proto__"', '"constructor"', '"toString"', '"\\u0000\\u202e"', '"\\ud800"', '\ufeff', '"http://x/"', KEY,
  'NOT_FOUND', 'PLAN_NOT_SUPPORTED', 'INVALID_API_KEY', 'STORAGE_LIMIT_REACHED',
]

/** The longest answer that the client reads. */
const ANSWER_MOST = 4 * 2 ** 20

/** An outcome as the engine and people get it: words in one line, without a secret, a remedy, or what was asked for. */
function check(outcome: Outcome<unknown>): void {
  if (outcome.ok) return
  const { message, code, remedy } = outcome.failure
  const words = inWords(message)
  must(/^[^\p{Cc}\p{Zl}\p{Zp}]+$/u.test(words) && words.length < 1000, 'a message is one line')
  must(!JSON.stringify(outcome.failure).includes(KEY), 'no message holds the key')
  must(code !== '' && remedy !== undefined, 'a failure has a code and a remedy')
}

const STATUSES = [200, 200, 200, 403, 429, 500]
const SCHEMAS = Object.entries<z.ZodType<unknown>>(answers)

/** The bodies of the host's answers. The length of a body decides as what it is read. */
export const hostAnswers: Target = {
  isText: true,
  most: ANSWER_MOST,
  words: WORDS,
  seeds: () => GOOD.map(answer => Buffer.from(JSON.stringify(answer))),
  read(body) {
    const pick = <T>(from: readonly T[], step: number) => from[Math.floor(body.length / step) % from.length]!
    const status = pick(STATUSES, 1)
    const [name, schema] = pick(SCHEMAS, STATUSES.length)
    const endpoint: Endpoint = ENDPOINTS.find(each => name.startsWith(each)) ?? 'upload'
    const read = answerReader({ endpoint, schema, where: 'host:443', secrets: [KEY] })
    check(read({ kind: 'answer', left: pick(['all', 'part'], 32), status, headers: {}, body }))
  },
}

/** A client that sends nothing twice and waits for nothing. */
function clientOf(origin: string): ImageHost {
  return openImageHost({
    baseUrl: `${origin}/api/v1`,
    siteUrl: origin,
    apiKey: KEY,
    uploadForm: 'credential',
    timeoutMs: 5000,
    credentialLifetimeMs: 60_000,
    requestsPerSecond: { upload: 1e6, send: 1e6, list: 1e6, delete: 1e6, create_album: 1e6 },
    concurrency: 8,
    patience: { attempts: 1, maxDelayMs: 0 },
    clock: { monotonic: () => performance.now(), sleep: async () => {} },
  })
}

/** What the server below sends to whoever connects. */
let sent: Buffer = Buffer.alloc(0)
let origin: Promise<string> | null = null

function listening(): Promise<string> {
  const server = net.createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(sent))
  })
  return new Promise(resolve =>
    server.listen(0, '127.0.0.1', () => {
      server.unref()
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    }),
  )
}

const http = (status: string, body: string, ...headers: string[]) =>
  Buffer.from(
    [`HTTP/1.1 ${status}`, `content-length: ${body.length}`, ...headers, '', body].join('\r\n'),
    'latin1',
  )

/** What comes back over a connection, from its first byte on. */
export const connections: Target = {
  isText: false,
  most: 256 * 1024,
  // biome-ignore format: a list.
  words: [
    'HTTP/1.1 200 OK\r\n', 'HTTP/1.0 429 \r\n', '\r\n\r\n', '\r\n', 'transfer-encoding: chunked\r\n',
    '0\r\n\r\n', 'content-length: 0\r\n', 'content-length: -1\r\n', 'retry-after: 1e9\r\n',
    'retry-after: -5\r\n', 'ffffffff\r\n', 'retry-after: Wed, 21 Oct 2099 07:28:00 GMT\r\n',
    'x-ratelimit-remaining: 0\r\n', 'connection: close\r\n', 'location: //\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 101 Switching\r\n', 'trailer: a\r\n', ...WORDS,
  ],
  seeds: () => [
    ...GOOD.map(answer => http('200 OK', JSON.stringify(answer))),
    http('429 Too Many Requests', JSON.stringify(GOOD[6]), 'retry-after: 3', 'x-ratelimit-limit: 10'),
    http('301 Moved', '', 'location: https://x.example/'),
    Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'),
  ],
  async read(input) {
    sent = input
    origin ??= listening()
    const client = clientOf(await origin)
    try {
      const requests: (() => Promise<Outcome<unknown>>)[] = [
        () => client.list(null, 1, signal),
        () => client.requestUpload({ file_name: 'a.png', file_size: 9, mime_type: 'image/png' }, signal),
        () => client.createAlbum({ name: 'A' }, signal),
        () => client.deleteImage('i1', signal),
      ]
      check(await requests[input.length % requests.length]!())
      await client.fetchDelivered(`${await origin}/i/1`, 1000, signal)
    } finally {
      await client.close()
    }
  },
}

/** A walk may ask for so many pages of so few answers. Each page must bring something new, or the walk goes on. */
const PAGES_MOST = 2000

/** Listings: the pages that a host shows in turn, one a line, walked from the root down. */
export const listings: Target = {
  isText: true,
  most: 64 * 1024,
  words: ['\n', '2', '1000000000000000', '"total_images"', '"i1"', '"i2"', '"a1"', '"a2"', ...WORDS],
  seeds: () =>
    [
      [page({ albums: [ALBUM], images: [IMAGE] }), page({ images: [{ ...IMAGE, id: 'i2' }] })],
      [page({ albums: [ALBUM, { ...ALBUM, id: 'a2' }] }), GOOD[6]!, page({ images: [IMAGE] })],
    ].map(pages => Buffer.from(pages.map(each => JSON.stringify(each)).join('\n'))),
  async read(input) {
    const pages = input.toString('utf8').split('\n').slice(0, 40)
    const read = answerReader({ endpoint: 'list', schema: answers.list, where: 'host:443', secrets: [KEY] })
    let asked = 0
    const list: ImageHost['list'] = async () => {
      const body = Buffer.from(pages[asked % pages.length]!)
      must(asked++ < PAGES_MOST * pages.length, 'a walk ends')
      const answer = read({ kind: 'answer', left: 'all', status: 200, headers: {}, body })
      return answer.ok ? { ok: true, value: { ...answer.value.data, cdn_base_url: null } } : answer
    }
    const walk = await walkEverything({ list }, signal)
    check(walk)
    if (!walk.ok) return
    const ids = walk.value.albums.map(({ id }) => id)
    must(new Set(ids).size === ids.length, 'a walk shows each album once')
  },
}
