import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { Bandwidth, Line, type LineOptions, Passage, paced } from '../../../src/remote/line/line.ts'
import { never } from '../client-of.ts'
import { VirtualTime } from './virtual-time.ts'

/** The result of an upload. Times in milliseconds; it began when its credential was granted. */
interface Upload {
  size: number
  result: 'arrived' | 'gave_way' | 'too_slow'
  began: number
  ended: number
}

/** A line of so many bytes a second. It sends the pieces of all uploads in the order in which they came. */
class VirtualLine {
  bytesPerSecond: number
  readonly #line: Line
  readonly #clock: VirtualTime['clock']
  readonly #lifetimeMs: number
  /** As on a real system, a connection takes so many bytes at once, however slow the line is. */
  readonly #buffer: number
  #freeAt = 0
  #underway = 0
  /** The most uploads at a time. */
  most = 0

  constructor(bytesPerSecond: number, buffer: number, options: LineOptions) {
    this.#clock = options.clock
    this.bytesPerSecond = bytesPerSecond
    this.#buffer = buffer
    this.#lifetimeMs = options.lifetimeMs
    this.#line = new Line(options)
  }

  async upload(size: number, bandwidth: Bandwidth): Promise<Upload> {
    const clock = this.#clock
    const passage = await this.#line.enter(size, never)
    const began = clock.monotonic()
    const end = (result: Upload['result']): Upload => ({ size, result, began, ended: clock.monotonic() })
    if (!(passage instanceof Passage)) return end('too_slow')
    passage.granted()
    passage.began()
    this.most = Math.max(this.most, ++this.#underway)
    const expired = clock.sleep(this.#lifetimeMs, never)
    const sent: { done: Promise<void>; bytes: number }[] = []
    let buffered = 0
    const waitUntil = async (bytes: number) => {
      while (buffered > bytes) {
        const first = sent.shift()!
        await Promise.race([first.done, expired])
        buffered -= first.bytes
      }
    }
    try {
      for await (const piece of paced(chunksOf(size), bandwidth, passage, never)) {
        sent.push({ done: this.#pass(piece.byteLength), bytes: piece.byteLength })
        buffered += piece.byteLength
        await waitUntil(this.#buffer)
        if (passage.leftMs() <= 0) break
      }
      await waitUntil(0)
      if (passage.leftMs() <= 0) return end(passage.expired() ? 'too_slow' : 'gave_way')
      passage.arrived()
      return end('arrived')
    } finally {
      this.#underway--
      passage.leave()
    }
  }

  #pass(bytes: number): Promise<void> {
    const now = this.#clock.monotonic()
    this.#freeAt = Math.max(this.#freeAt, now) + (bytes * 1000) / this.bytesPerSecond
    return this.#clock.sleep(this.#freeAt - now, never)
  }
}

async function* chunksOf(size: number) {
  const chunk = 256 * 1024
  for (let at = 0; at < size; at += chunk) yield new Uint8Array(Math.min(chunk, size - at))
}

const KB = 1024
const MB = 1024 * KB
const LIFE = 600_000
const HOUR = 3_600_000
let time: VirtualTime

beforeEach(() => {
  time = new VirtualTime()
})

const options = () => ({ clock: time.clock, lifetimeMs: LIFE, ceiling: Number.POSITIVE_INFINITY })
const lineOf = (bytesPerSecond: number, buffer = 300 * KB) =>
  new VirtualLine(bytesPerSecond, buffer, options())

/** Uploads pictures with several workers, as the upload queue does. Those that failed are tried again, `rounds` times. */
async function work(
  line: VirtualLine,
  sizes: readonly number[],
  { workers = 8, rounds = 1 } = {},
): Promise<Upload[]> {
  const free = new Bandwidth(Number.POSITIVE_INFINITY, time.clock)
  const done: Upload[] = []
  for (let left = [...sizes]; left.length > 0 && rounds > 0; rounds--) {
    const failed: number[] = []
    const worker = async () => {
      for (let size = left.shift(); size !== undefined; size = left.shift()) {
        const upload = await line.upload(size, free)
        done.push(upload)
        if (upload.result !== 'arrived') failed.push(size)
      }
    }
    await time.all(Array.from({ length: workers }, worker))
    if (failed.length > 0 && rounds > 1) await time.all([time.clock.sleep(HOUR, never)])
    left = failed
  }
  return done
}

const results = (uploads: readonly Upload[]) => uploads.map(({ result }) => result)
const longest = (uploads: readonly Upload[]) => Math.max(...uploads.map(({ began, ended }) => ended - began))

test('on a fast line there are as many uploads at a time as workers', async () => {
  const line = lineOf(50 * MB)
  const uploads = await work(line, Array(100).fill(5 * MB))
  expect(new Set(results(uploads))).toEqual(new Set(['arrived']))
  expect(line.most).toBe(8)
})

test('on a slow line there are fewer uploads at a time, and each ends well within its credential', async () => {
  // Eight at a time would take 800 seconds each.
  const line = lineOf(100 * KB)
  const uploads = await work(line, Array(40).fill(10 * MB))
  expect(results(uploads)).toEqual(Array(40).fill('arrived'))
  expect(longest(uploads)).toBeLessThan(LIFE * 0.8)
})

test('on any line all arrive in the end that can', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 5, max: 300 }),
      fc.integer({ min: 1, max: 3000 }),
      // The time that each picture needs alone, in seconds.
      fc.array(fc.integer({ min: 1, max: 250 }), { minLength: 1, maxLength: 15 }),
      async (rateKB, bufferKB, seconds) => {
        const line = lineOf(rateKB * KB, bufferKB * KB)
        const sizes = seconds.map(s => s * rateKB * KB)
        const uploads = await work(line, sizes, { rounds: 5 })
        const arrived = uploads.filter(({ result }) => result === 'arrived').map(({ size }) => size)
        expect(arrived.toSorted()).toEqual(sizes.toSorted())
        // Only a line that is slower than assumed costs credentials, and only until this is known.
        expect(uploads.length - arrived.length).toBeLessThanOrEqual(rateKB < 64 ? 16 : 0)
      },
    ),
    { numRuns: 15, examples: [[25, 2400, Array(24).fill(92)]] },
  )
})

test('after a credential expired on the way, uploads go one at a time until one arrives', async () => {
  const line = lineOf(20 * KB)
  const uploads = await work(line, Array(12).fill(2 * MB), { rounds: 2 })
  const [first, second] = [uploads.slice(0, 8), uploads.slice(8)]
  expect(results(first)).toContain('gave_way')
  expect(results(second).filter(result => result !== 'arrived')).toEqual([])
})

test('a picture that takes longer than a credential lives costs one credential an hour, and the others arrive', async () => {
  const line = lineOf(50 * KB)
  const uploads = await work(line, [60 * MB, 1 * MB, 61 * MB, 1 * MB], { workers: 1 })
  expect(results(uploads)).toEqual(['too_slow', 'arrived', 'too_slow', 'arrived'])
  expect(uploads[2]!.ended - uploads[2]!.began).toBe(0)
  await time.all([time.clock.sleep(HOUR, never)])
  line.bytesPerSecond = 1 * MB
  expect(results(await work(line, [60 * MB]))).toEqual(['arrived'])
})

test('when an upload has shown that the line is faster, a picture that was refused is uploaded', async () => {
  const line = lineOf(50 * KB)
  await work(line, [60 * MB])
  line.bytesPerSecond = 1 * MB
  expect(results(await work(line, [60 * MB, 2 * MB, 60 * MB], { workers: 1 }))).toEqual([
    'too_slow',
    'arrived',
    'arrived',
  ])
})

test('small pictures are uploaded beside a large one, and the large one still ends in time', async () => {
  const line = lineOf(100 * KB)
  const uploads = await work(line, [10 * MB, ...Array(200).fill(200 * KB)])
  expect(new Set(results(uploads))).toEqual(new Set(['arrived']))
  expect(line.most).toBe(8)
})

test('a bandwidth limit counts as the rate of the line', async () => {
  const line = new Line({ ...options(), ceiling: 50 * KB })
  expect(await line.enter(60 * MB, never)).toMatchObject({ bytesPerSecond: 50 * KB })
  expect(await line.enter(20 * MB, never)).toBeInstanceOf(Passage)
})

test('a credential that was never used takes room on the line only until it expires', async () => {
  const line = new Line(options())
  line.admit(500 * MB).granted()
  const began = time.clock.monotonic()
  const [entered] = await time.all([line.enter(500 * MB, never)])
  expect(entered).toBeInstanceOf(Passage)
  expect(time.clock.monotonic() - began).toBeGreaterThanOrEqual(LIFE)
})

test('an upload that is cancelled while it waits lets the next one begin', async () => {
  const line = new Line(options())
  const first = line.admit(500 * MB)
  const abort = new AbortController()
  const second = line.enter(500 * MB, abort.signal)
  const third = line.enter(500 * MB, never)
  abort.abort()
  time.after(1000, () => first.leave())
  const [cancelled, entered] = await time.all<Awaited<typeof second>>([second, third])
  expect(cancelled).toBeNull()
  expect(entered).toBeInstanceOf(Passage)
})
