import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { Line, type LineOptions } from '../../../src/remote/line/line.ts'
import { Bandwidth, LineTooSlow, paced } from '../../../src/remote/line/pacing.ts'
import { never } from '../client-of.ts'
import { VirtualTime } from './virtual-time.ts'

/** The result of an upload. Times in milliseconds; it began when its credential was granted. */
interface Upload {
  size: number
  result: 'arrived' | 'cut' | 'gave_way' | 'too_slow'
  began: number
  ended: number
}

/**
 * The buffer of a connection. As on a real system, it takes `bytes` at once, however slow the line is. Once it is full, it
 * takes bytes again when no more than the share `mark` of it is filled. On Linux this share is two thirds.
 */
interface Buffer {
  bytes: number
  mark: number
}

/** In which order a line transports pieces: as connections take them, or one of each connection in turn. */
type Order = 'fifo' | 'fair'

interface Piece {
  bytes: number
  /** The line transports the piece with the lowest rank first. */
  rank: number
  passed(): void
}

/** A line of so many bytes a second that all uploads share. */
class VirtualLine {
  bytesPerSecond: number
  readonly #buffer: Buffer
  readonly #line: Line
  readonly #clock: VirtualTime['clock']
  readonly #lifetimeMs: number
  readonly #order: Order
  /** Pieces that are in buffers. */
  readonly #pieces: Piece[] = []
  #rank = 0
  #isBusy = false
  #pausedUntil = 0
  underway = 0
  /** The most uploads at a time. */
  most = 0

  constructor(bytesPerSecond: number, buffer: Buffer, order: Order, options: LineOptions) {
    this.#clock = options.clock
    this.bytesPerSecond = bytesPerSecond
    this.#buffer = buffer
    this.#order = order
    this.#lifetimeMs = options.lifetimeMs
    this.#line = new Line(options)
  }

  async upload(size: number, bandwidth: Bandwidth): Promise<Upload> {
    const clock = this.#clock
    const entered = await this.#line.enter(size, never)
    const began = clock.monotonic()
    const end = (result: Upload['result']): Upload => ({ size, result, began, ended: clock.monotonic() })
    if (!entered || 'slow' in entered) return end('too_slow')
    const { passage } = entered
    passage.granted()
    this.most = Math.max(this.most, ++this.underway)
    const expired = clock.sleep(this.#lifetimeMs, never)
    try {
      const sent: { done: Promise<void>; bytes: number }[] = []
      let waiting = 0
      let rank = 0
      for await (const piece of paced(chunksOf(size), { bandwidth, passage, clock }, never)) {
        rank = Math.max(rank, this.#rank) + (this.#order === 'fair' ? piece.byteLength : 0)
        sent.push({ done: this.#pass(piece.byteLength, rank), bytes: piece.byteLength })
        waiting += piece.byteLength
        if (waiting > this.#buffer.bytes)
          while (sent.length > 0 && waiting > this.#buffer.bytes * this.#buffer.mark) {
            const first = sent.shift()!
            await Promise.race([first.done, expired])
            waiting -= first.bytes
          }
        if (passage.leftMs() <= 0) return end('cut')
      }
      await Promise.race([Promise.all(sent.map(({ done }) => done)), expired])
      if (passage.leftMs() <= 0) return end('cut')
      passage.arrived()
      return end('arrived')
    } catch (error) {
      if (!(error instanceof LineTooSlow)) throw error
      return end(this.#line.tooSlowFor(size) ? 'too_slow' : 'gave_way')
    } finally {
      this.underway--
      passage.leave()
    }
  }

  /** The rate that the line is believed to have at most; undefined when nothing is known. */
  get believed(): number | undefined {
    return this.#line.tooSlowFor(Number.POSITIVE_INFINITY)?.bytesPerSecond
  }

  /** The line transports nothing for so long. */
  pause(ms: number): void {
    this.#pausedUntil = this.#clock.monotonic() + ms
  }

  #pass(bytes: number, rank: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#pieces.push({ bytes, rank, passed: resolve })
    if (!this.#isBusy) void this.#transport()
    return promise
  }

  async #transport(): Promise<void> {
    this.#isBusy = true
    while (this.#pieces.length > 0) {
      const first = this.#pieces.reduce((a, b) => (b.rank < a.rank ? b : a))
      this.#pieces.splice(this.#pieces.indexOf(first), 1)
      this.#rank = first.rank
      await this.#clock.sleep((first.bytes * 1000) / this.bytesPerSecond, never)
      await this.#clock.sleep(this.#pausedUntil - this.#clock.monotonic(), never)
      first.passed()
    }
    this.#isBusy = false
  }
}

async function* chunksOf(size: number) {
  const chunk = 256 * 1024
  for (let at = 0; at < size; at += chunk) yield new Uint8Array(Math.min(chunk, size - at))
}

const KB = 1024
const MB = 1024 * KB
const LIFE = 600_000
const BUFFER = 300 * KB
let time: VirtualTime

beforeEach(() => {
  time = new VirtualTime()
})

const options = () => ({ clock: time.clock, lifetimeMs: LIFE, ceiling: Number.POSITIVE_INFINITY })
const lineOf = (bytesPerSecond: number, buffer = BUFFER, mark = 1, order: Order = 'fifo') =>
  new VirtualLine(bytesPerSecond, { bytes: buffer, mark }, order, options())
const marks = fc.constantFrom(1, 2 / 3, 0)
const orders = fc.constantFrom<Order>('fifo', 'fair')

/**
 * Uploads pictures with several workers, as the upload queue does. An upload that failed is tried again after a minute, as
 * long as less than `retryMs` has passed.
 */
async function work(
  line: VirtualLine,
  sizes: readonly number[],
  { workers = 8, retryMs = 0 } = {},
): Promise<Upload[]> {
  const left = [...sizes]
  const { clock } = time
  const until = clock.monotonic() + retryMs
  const free = new Bandwidth(Number.POSITIVE_INFINITY, clock)
  const done: Upload[] = []
  const worker = async () => {
    for (let size = left.shift(); size !== undefined; size = left.shift()) {
      const upload = await line.upload(size, free)
      done.push(upload)
      if (upload.result === 'arrived' || clock.monotonic() >= until) continue
      left.push(size)
      await clock.sleep(60_000, never)
    }
  }
  await time.all(Array.from({ length: workers }, worker))
  return done
}

const longest = (uploads: readonly Upload[]) => Math.max(...uploads.map(({ began, ended }) => ended - began))

test('on a fast line there are as many uploads at a time as workers', async () => {
  const line = lineOf(50 * MB)
  const uploads = await work(line, Array(100).fill(5 * MB))
  expect(uploads.every(({ result }) => result === 'arrived')).toBe(true)
  expect(line.most).toBe(8)
})

test('on a slow line there are fewer uploads at a time, and each ends well within its credential', async () => {
  // Eight at a time would take 800 seconds each.
  const line = lineOf(100 * KB)
  const uploads = await work(line, Array(40).fill(10 * MB))
  expect(uploads.map(({ result }) => result)).toEqual(Array(40).fill('arrived'))
  expect(longest(uploads)).toBeLessThan(LIFE * 0.8)
  expect(line.most).toBeLessThan(8)
  expect(line.most).toBeGreaterThan(1)
})

test('with any line, buffers and pictures, uploads that can easily end in time do', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 100, max: 5000 }),
      fc.integer({ min: 1, max: 3000 }),
      fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 15 }),
      marks,
      orders,
      async (rateKB, bufferKB, sizesKB, mark, order) => {
        const rate = rateKB * KB
        const line = lineOf(rate, bufferKB * KB, mark, order)
        const uploads = await work(
          line,
          sizesKB.map(size => size * KB),
        )
        const easy = uploads.filter(({ size }) => (size * 1000) / rate < LIFE * 0.3)
        expect(easy.filter(({ result }) => result !== 'arrived')).toEqual([])
      },
    ),
    {
      numRuns: 20,
      // A connection waits long until the buffers of the others are empty, and then takes a piece.
      examples: [
        [100, 2304, [1417, 3916, 973, 3126, 3785, 5984], 1, 'fifo'],
        [100, 1280, [1, 1, 1, 1035, 1, 1, 1267, 1315, 3977], 1, 'fifo'],
        // The connections of the small ones have taken them whole, and a part of the large one.
        [100, 1440, [1281, 1281, 1281, 901, 9341], 1, 'fifo'],
        // The line sends the small ones, which their connections have taken whole, while the others wait.
        [100, 2615, [1, 1677, 4270, 3475, 498, 5463, 5633, 2869, 12, 6530, 1], 1, 'fifo'],
      ],
    },
  )
})

test('on a line that is slower than assumed, uploads that failed arrive in the end, also if buffers take them whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 5, max: 64 }),
      fc.integer({ min: 100, max: 3000 }),
      // The time that each picture needs alone, in seconds.
      fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 25 }),
      marks,
      orders,
      async (rateKB, bufferKB, seconds, mark, order) => {
        const line = lineOf(rateKB * KB, bufferKB * KB, mark, order)
        const sizes = seconds.map(s => s * rateKB * KB)
        const uploads = await work(line, sizes, { retryMs: 20 * LIFE })
        const arrived = uploads.filter(({ result }) => result === 'arrived').map(({ size }) => size)
        expect(arrived.toSorted()).toEqual(sizes.toSorted())
      },
    ),
    // Eight of these pictures need 736 seconds.
    { numRuns: 20, examples: [[25, 2400, Array(24).fill(92), 1, 'fair']] },
  )
})

test.each([
  // The mark, the size of each picture, and the number of workers.
  [1, 650 * KB, 1],
  [2 / 3, 900 * KB, 1],
  [0, 900 * KB, 1],
  [1, 650 * KB, 8],
  [2 / 3, 900 * KB, 8],
])(
  'the rate is measured also when each upload waits only twice for full buffers (%d, %d, %d)',
  async (mark, size, workers) => {
    const rate = 100 * KB
    const line = lineOf(rate, BUFFER, mark)
    await work(line, [5 * MB, ...Array(100).fill(size)], { workers })
    expect(line.believed).toBeGreaterThan(rate * 0.9)
    expect(line.believed).toBeLessThan(rate * 1.2)
  },
)

/** Whether an upload of so many bytes may begin at once beside those that are under way. */
async function hasRoomFor(line: Line, size: number): Promise<boolean> {
  const abort = new AbortController()
  time.after(1000, () => abort.abort())
  const [entered] = await time.all([line.enter(size, abort.signal)])
  return entered !== null
}

/** An upload whose connection took so many bytes at once, and which has waited for so long since. */
async function sentOf(line: Line, size: number, { taken = size, ms = 0 }) {
  const passage = line.admit(size)
  passage.granted()
  passage.taken(taken, time.clock.monotonic())
  await time.all([time.clock.sleep(ms, never)])
  return passage
}

test('an answer that comes before the whole picture was sent is no proof of a fast line', async () => {
  const line = new Line(options())
  const early = await sentOf(line, 100 * MB, { taken: 256 * KB, ms: 100 })
  early.arrived()
  early.leave()
  line.admit(15 * MB)
  expect(await hasRoomFor(line, 15 * MB)).toBe(false)
})

test('once an upload was cut as its credential expired, uploads go one at a time until one arrives', async () => {
  const line = new Line(options())
  // A timer ends an upload, and may be a little early.
  const cut = await sentOf(line, 2 * MB, { ms: LIFE - 1 })
  cut.leave()
  const next = await sentOf(line, 2 * MB, { ms: 60_000 })
  expect(await hasRoomFor(line, 2 * MB)).toBe(false)
  next.arrived()
  next.leave()
  line.admit(2 * MB)
  expect(await hasRoomFor(line, 2 * MB)).toBe(true)
})

test('small pictures are uploaded beside a large one if the large one still ends in time', async () => {
  const line = lineOf(100 * KB)
  const uploads = await work(line, [20 * MB, ...Array(50).fill(50 * KB)])
  expect(uploads.every(({ result }) => result === 'arrived')).toBe(true)
  // The large picture began first and ended last.
  expect(uploads.at(-1)).toMatchObject({ size: 20 * MB })
})

test('beside small pictures, it is noticed that a large one takes too long', async () => {
  const line = lineOf(50 * KB, 2 * MB)
  const uploads = await work(line, [60 * MB, ...Array(50).fill(1 * MB)])
  const large = uploads.find(({ size }) => size === 60 * MB)!
  expect(large.result).toBe('too_slow')
  expect(large.ended - large.began).toBeLessThan(LIFE * 0.4)
  expect(uploads.filter(({ result }) => result === 'arrived').length).toBe(50)
})

test('once the rate is known, a picture that would take too long even alone is refused, and the others are uploaded', async () => {
  const line = lineOf(50 * KB)
  const uploads = await work(line, [5 * MB, 60 * MB, 1 * MB, 60 * MB, 1 * MB], { workers: 1 })
  expect(uploads.map(({ result }) => result)).toEqual([
    'arrived',
    'too_slow',
    'arrived',
    'too_slow',
    'arrived',
  ])
  // The rate is known from the first picture: not a byte of the large one was sent.
  expect(uploads[1]!.ended - uploads[1]!.began).toBe(0)
})

test('on an unknown line a large picture is uploaded alone, and ended as soon as it is clear that it takes too long', async () => {
  const line = lineOf(50 * KB)
  const [large] = await work(line, [60 * MB])
  expect(large).toMatchObject({ result: 'too_slow' })
  expect(longest([large!])).toBeLessThan(LIFE * 0.2)
})

test('when the line has become faster, a picture that was refused is uploaded', async () => {
  const line = lineOf(50 * KB)
  expect((await work(line, [5 * MB, 60 * MB], { workers: 1 }))[1]).toMatchObject({ result: 'too_slow' })
  line.bytesPerSecond = 1 * MB
  await work(line, Array(10).fill(2 * MB))
  expect((await work(line, [60 * MB]))[0]).toMatchObject({ result: 'arrived' })
})

test('a measured rate is forgotten after a while, so that an idle line is tried again', async () => {
  const line = lineOf(50 * KB)
  expect((await work(line, [5 * MB, 60 * MB], { workers: 1 }))[1]).toMatchObject({ result: 'too_slow' })
  line.bytesPerSecond = 1 * MB
  await time.all([time.clock.sleep(3 * LIFE + 1, never)])
  expect((await work(line, [60 * MB]))[0]).toMatchObject({ result: 'arrived' })
})

test('when the line becomes slower, the uploads that began last are ended, and the first end in time', async () => {
  const line = lineOf(1 * MB)
  await work(line, Array(8).fill(5 * MB))
  time.after(5000, () => {
    line.bytesPerSecond = 100 * KB
  })
  const uploads = await work(line, Array(8).fill(20 * MB))
  const results = uploads.map(({ result }) => result)
  expect(results).toContain('gave_way')
  expect(results.filter(result => result === 'arrived').length).toBeGreaterThanOrEqual(2)
  expect(results).not.toContain('cut')
})

test('a pause of the line is not mistaken for its rate', async () => {
  const line = lineOf(1 * MB)
  await work(line, Array(4).fill(5 * MB))
  time.after(5000, () => line.pause(40_000))
  const uploads = await work(line, Array(4).fill(20 * MB))
  expect(uploads.map(({ result }) => result)).toEqual(Array(4).fill('arrived'))
})

test('a bandwidth limit counts as the rate of the line', async () => {
  const ceiling = 50 * KB
  const line = new Line({ ...options(), ceiling })
  expect(line.tooSlowFor(60 * MB)).toMatchObject({ bytesPerSecond: ceiling })
  expect(line.tooSlowFor(20 * MB)).toBeNull()
})

test('a credential that was never used takes room on the line only until it expires', async () => {
  const line = new Line(options())
  line.admit(500 * MB).granted()
  const began = time.clock.monotonic()
  const [entered] = await time.all([line.enter(500 * MB, never)])
  expect(entered).toHaveProperty('passage')
  expect(time.clock.monotonic() - began).toBeGreaterThanOrEqual(LIFE)
})

test('an upload that is cancelled while it waits lets the next one begin', async () => {
  const line = new Line(options())
  const first = line.admit(500 * MB)
  const abort = new AbortController()
  const second = line.enter(500 * MB, abort.signal)
  const third = line.enter(500 * MB, never)
  abort.abort()
  time.after(1000, first.leave)
  const [cancelled, entered] = await time.all<Awaited<typeof second>>([second, third])
  expect(cancelled).toBeNull()
  expect(entered).toHaveProperty('passage')
})
