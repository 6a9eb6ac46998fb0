import { describe, expect, it } from 'vitest'
import { Bandwidth, LineTooSlow, paced } from '../../src/remote/line/pacing.ts'
import { VirtualClock } from '../daemon/virtual-clock.ts'

const KIB = 1024

/** The sizes, in KiB, of the pieces that a body of two chunks leaves in. `tookMs`: how long each of them is on its way. */
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
    yield Buffer.alloc(256 * KIB)
    yield Buffer.alloc(256 * KIB)
  }
  for await (const piece of paced(chunks(), pacing, new AbortController().signal)) {
    sizes.push(piece.byteLength / KIB)
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
    expect((await piecesOf([], { bytesPerSecond: 256 * KIB })).every(size => size === 16)).toBe(true)
  })

  it('ends where it can not arrive in time', async () => {
    await expect(piecesOf([], { end: 3 })).rejects.toBeInstanceOf(LineTooSlow)
  })
})
