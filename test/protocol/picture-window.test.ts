import { expect, test } from 'vitest'
import { Window } from '../../src/protocol/picture/window.ts'
import { sourceOf } from './sources.ts'

const FILE = Buffer.from(Array.from({ length: 20_000 }, (_, n) => n % 251))

test('a window shows what stands at an offset, ahead and back again', async () => {
  const window = new Window(sourceOf(FILE), FILE.subarray(0, 100))
  for (const offset of [0, 90, 99, 150, 19_000, 19_990, 10, 4000]) {
    const view = await window.at(offset, 10)
    expect(view?.getUint8(0)).toBe(offset % 251)
    expect(view?.getUint8(9)).toBe((offset + 9) % 251)
  }
})

test('a window reads only where it does not hold enough already', async () => {
  const source = sourceOf(FILE)
  const window = new Window(source, FILE.subarray(0, 100))
  await window.at(0, 100)
  expect(source.reads).toBe(0)
  await window.at(1, 100)
  await window.at(4000, 97)
  expect([source.reads, source.longestRead]).toEqual([1, 4096])
})

test('a window shows nothing that reaches beyond the end, and does not try to read it', async () => {
  const source = sourceOf(FILE)
  const window = new Window(source, FILE.subarray(0, 100))
  expect(await window.at(19_991, 10)).toBeNull()
  expect(await window.at(Number.MAX_VALUE, 10)).toBeNull()
  expect(source.reads).toBe(0)
})
