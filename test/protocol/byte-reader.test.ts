import { expect, test } from 'vitest'
import { ByteReader } from '../../src/protocol/byte-reader.ts'
import { sourceOf } from './sources.ts'

const FILE = Buffer.from(Array.from({ length: 20_000 }, (_, n) => n % 251))
const OPTIONS = { head: FILE.subarray(0, 100), block: 4096 }

test('a reader shows what stands at an offset, ahead and back again', async () => {
  const reader = new ByteReader(sourceOf(FILE), OPTIONS)
  for (const offset of [0, 90, 99, 150, 19_000, 19_990, 10, 4000]) {
    const bytes = await reader.bytes(offset, 10)
    expect(bytes?.[0]).toBe(offset % 251)
    expect(bytes?.[9]).toBe((offset + 9) % 251)
  }
})

test('a reader reads only where it does not hold enough already', async () => {
  const source = sourceOf(FILE)
  const reader = new ByteReader(source, OPTIONS)
  await reader.bytes(0, 100)
  expect(source.reads).toBe(0)
  await reader.bytes(1, 100)
  await reader.bytes(4000, 97)
  expect([source.reads, source.longestRead]).toEqual([1, 4096])
})

test('a reader shows nothing that reaches beyond the end, and does not try to read it', async () => {
  const source = sourceOf(FILE)
  const reader = new ByteReader(source, OPTIONS)
  expect(await reader.bytes(19_991, 10)).toBeNull()
  expect(await reader.bytes(Number.MAX_VALUE, 10)).toBeNull()
  expect(source.reads).toBe(0)
})

test('a reader that has used up its reads shows only what it holds', async () => {
  const reader = new ByteReader(sourceOf(FILE), { ...OPTIONS, reads: 1 })
  await reader.bytes(4000, 10)
  expect([await reader.bytes(9000, 10), (await reader.bytes(5000, 10))?.[0]]).toEqual([null, 5000 % 251])
})
