import { beforeEach, describe, expect, it, test } from 'vitest'
import { Line } from '../../../src/remote/line/line.ts'
import { Bandwidth, LineTooSlow, paced } from '../../../src/remote/line/pacing.ts'
import { VirtualClock } from '../../daemon/virtual-clock.ts'
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

/** Uploads of so many bytes each, all at once, with nothing to hold them back but the bandwidth. */
async function upload(bytesPerSecond: number, sizes: readonly number[]): Promise<Piece[]> {
  const bandwidth = new Bandwidth(bytesPerSecond, clock)
  const line = new Line({ clock, lifetimeMs: 600_000, ceiling: bytesPerSecond })
  const left: Piece[] = []
  const send = async (size: number) => {
    const passage = line.admit(size)
    const chunks = async function* () {
      yield bytesOf(size)
    }
    for await (const { byteLength: bytes } of paced(chunks(), { bandwidth, passage, clock }, never))
      left.push({ at: clock.now(), bytes })
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
  'at %s all uploads together never take more than that in a second, and nearly all of it',
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

test('a rest is not saved up for a burst', async () => {
  const bandwidth = new Bandwidth(100 * KB, clock)
  await time.all([bandwidth.take(KB, never)])
  await time.all([clock.sleep(3_600_000, never)])
  const began = clock.now()
  await time.all(Array.from({ length: 200 }, () => bandwidth.take(KB, never)))
  expect(clock.now() - began).toBeGreaterThanOrEqual(1700)
})

test('uploads have their turns: a small one does not wait for the end of a large one', async () => {
  const bandwidth = new Bandwidth(100 * KB, clock)
  const line = new Line({ clock, lifetimeMs: 600_000, ceiling: 100 * KB })
  const ends: string[] = []
  const send = async (name: string, size: number) => {
    const passage = line.admit(size)
    const chunks = async function* () {
      yield bytesOf(size)
    }
    for await (const _ of paced(chunks(), { bandwidth, passage, clock }, never));
    ends.push(name)
  }
  await time.all([send('large', 1000 * KB), send('small', 20 * KB)])
  expect(ends).toEqual(['small', 'large'])
})

test('without a limit nothing waits', async () => {
  const began = clock.now()
  await upload(Number.POSITIVE_INFINITY, [50_000_000])
  expect(clock.now()).toBe(began)
})

test('who is cancelled does not wait for its turn', async () => {
  const bandwidth = new Bandwidth(KB, clock)
  const abort = new AbortController()
  const waiting = bandwidth.take(1000 * KB, abort.signal)
  abort.abort()
  await waiting
})

test('the bytes stay what they were, in their order', async () => {
  const bandwidth = new Bandwidth(1000 * KB, clock)
  const passage = new Line({ clock, lifetimeMs: 600_000, ceiling: 1000 * KB }).admit(300_000)
  const bytes = bytesOf(300_000)
  const chunks = async function* () {
    yield bytes.subarray(0, 7)
    yield bytes.subarray(7, 200_001)
    yield bytes.subarray(200_001)
  }
  const parts: Uint8Array[] = []
  const collect = async () => {
    for await (const part of paced(chunks(), { bandwidth, passage, clock }, never)) parts.push(part)
  }
  await time.all([collect()])
  expect(sha256(Buffer.concat(parts))).toBe(sha256(bytes))
})

/** The sizes, in KB, of the pieces that a body of two chunks leaves in. `tookMs`: how long each of them is on its way. */
async function piecesOf(
  tookMs: readonly number[],
  { bytesPerSecond = Number.POSITIVE_INFINITY, end = 99 } = {},
) {
  const virtual = new VirtualClock()
  const clock = { now: virtual.monotonic, sleep: async (ms: number) => virtual.pass(ms) }
  const sizes: number[] = []
  const pacing = {
    bandwidth: new Bandwidth(bytesPerSecond, clock),
    passage: { granted() {}, leftMs: () => 1e9, taken: () => sizes.length < end, arrived() {}, leave() {} },
    clock,
  }
  async function* chunks() {
    yield Buffer.alloc(256 * KB)
    yield Buffer.alloc(256 * KB)
  }
  for await (const piece of paced(chunks(), pacing, new AbortController().signal)) {
    sizes.push(piece.byteLength / KB)
    await virtual.pass(tookMs[sizes.length - 1] ?? 0)
  }
  return sizes
}

describe('a body on its way', () => {
  it('leaves in pieces that grow while the connection takes them at once', async () => {
    expect(await piecesOf([])).toEqual([32, 64, 128, 32, 256])
  })

  it('leaves in small ones again once the connection keeps one waiting', async () => {
    expect(await piecesOf([0, 6])).toEqual([32, 64, 32, 64, 64, 128, 128])
  })

  it('leaves in small ones only where all of them wait', async () => {
    expect(await piecesOf(Array(16).fill(100))).toEqual(Array(16).fill(32))
  })

  it('leaves in smaller ones where uploads may take little of the line', async () => {
    expect((await piecesOf([], { bytesPerSecond: 256 * KB })).every(size => size === 16)).toBe(true)
  })

  it('ends where it can not arrive in time', async () => {
    await expect(piecesOf([], { end: 3 })).rejects.toBeInstanceOf(LineTooSlow)
  })
})
