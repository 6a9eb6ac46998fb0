import { beforeEach, expect, test } from 'vitest'
import { Bandwidth, paced } from '../../../src/remote/line/line.ts'
import { bytesOf, never, sha256 } from '../client-of.ts'
import { VirtualTime } from './virtual-time.ts'

const KB = 1024

let time: VirtualTime
let clock: VirtualTime['clock']

beforeEach(() => {
  time = new VirtualTime()
  clock = time.clock
})

interface Piece {
  at: number
  bytes: number
}

/** Uploads of these sizes, all at once, on a line where only the bandwidth limit holds them back. */
async function upload(bytesPerSecond: number, sizes: readonly number[]): Promise<Piece[]> {
  const bandwidth = new Bandwidth(bytesPerSecond, clock)
  const left: Piece[] = []
  const send = async (size: number) => {
    const passage = { left: size }
    const chunks = async function* () {
      yield bytesOf(size)
    }
    for await (const { byteLength: bytes } of paced(chunks(), bandwidth, passage, never))
      left.push({ at: clock.monotonic(), bytes })
  }
  await time.all(sizes.map(send))
  return left
}

const sum = (pieces: Piece[]) => pieces.reduce((total, { bytes }) => total + bytes, 0)

test.each([
  ['1 KB/s', 1 * KB, 20 * KB],
  ['100 KB/s', 100 * KB, 400 * KB],
  ['2 MB/s', 2048 * KB, 8000 * KB],
])(
  'with a limit of %s all uploads together never send more in a second, and use nearly all of it',
  async (_, rate, size) => {
    const pieces = await upload(rate, [size, size, size])
    const [first, last] = [pieces[0]!.at, pieces.at(-1)!.at]
    expect(sum(pieces)).toBe(3 * size)
    for (const { at } of pieces) {
      const second = pieces.filter(piece => piece.at >= at && piece.at < at + 1000)
      expect(sum(second)).toBeLessThanOrEqual(rate * 1.25)
      if (at + 1000 <= last) expect(sum(second)).toBeGreaterThanOrEqual(rate * 0.9)
    }
    expect(last - first).toBeGreaterThanOrEqual(((3 * size) / rate - 0.5) * 1000)
  },
)

test('bandwidth that was not used does not make a burst later', async () => {
  const bandwidth = new Bandwidth(100 * KB, clock)
  await time.all([bandwidth.take(KB, never)])
  await time.all([clock.sleep(3_600_000, never)])
  const began = clock.monotonic()
  await time.all(Array.from({ length: 200 }, () => bandwidth.take(KB, never)))
  expect(clock.monotonic() - began).toBeGreaterThanOrEqual(1700)
})

test('uploads take turns: a small picture does not wait for the end of a large one', async () => {
  const bandwidth = new Bandwidth(100 * KB, clock)
  const ends: string[] = []
  const send = async (name: string, size: number) => {
    const passage = { left: size }
    const chunks = async function* () {
      yield bytesOf(size)
    }
    for await (const _ of paced(chunks(), bandwidth, passage, never));
    ends.push(name)
  }
  await time.all([send('large', 1000 * KB), send('small', 20 * KB)])
  expect(ends).toEqual(['small', 'large'])
})

test('without a limit nothing waits', async () => {
  const began = clock.monotonic()
  await upload(Number.POSITIVE_INFINITY, [50_000_000])
  expect(clock.monotonic()).toBe(began)
})

test('a cancelled upload does not wait for its turn', async () => {
  const bandwidth = new Bandwidth(KB, clock)
  const abort = new AbortController()
  const waiting = bandwidth.take(1000 * KB, abort.signal)
  abort.abort()
  await waiting
})

test('the bytes stay the same, in the same order', async () => {
  const bandwidth = new Bandwidth(1000 * KB, clock)
  const passage = { left: 300_000 }
  const bytes = bytesOf(300_000)
  const chunks = async function* () {
    yield bytes.subarray(0, 7)
    yield bytes.subarray(7, 200_001)
    yield bytes.subarray(200_001)
  }
  const parts: Uint8Array[] = []
  const collect = async () => {
    for await (const part of paced(chunks(), bandwidth, passage, never)) parts.push(part)
  }
  await time.all([collect()])
  expect(sha256(Buffer.concat(parts))).toBe(sha256(bytes))
  expect(passage.left).toBe(0)
})
