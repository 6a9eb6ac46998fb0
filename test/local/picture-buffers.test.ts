import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PictureBuffers } from '../../src/local/picture-buffers.ts'
import { type OpenPicture, openPicture } from '../../src/local/picture-file.ts'
import { png } from '../pictures.ts'
import { tempFolder } from '../temp-folder.ts'

/** Three pictures, each of other bytes, and one set of buffers for them. */
function stage() {
  const root = tempFolder()
  const pictures = [png(4, 3), png(5, 3), png(6, 3)].map(({ bytes }) => bytes)
  for (const [at, bytes] of pictures.entries()) writeFileSync(join(root, `${at}.png`), bytes)
  const buffers = new PictureBuffers()
  const changed = () => new Error('changed underway')
  const open = (at: number) => openPicture(root, `${at}.png`, { changed, buffers })
  return { pictures, buffers, open }
}

const memoryOf = ({ memory }: OpenPicture) => memory!.bytes.buffer

test('pictures that are open together have memory of their own; one that follows has that of one before', async () => {
  const { pictures, open } = stage()
  const first = await open(0)
  const second = await open(1)
  expect(memoryOf(second)).not.toBe(memoryOf(first))
  await first.close()
  const third = await open(2)
  expect(memoryOf(third)).toBe(memoryOf(first))
  expect(second.memory!.bytes).toEqual(pictures[1])
  expect(third.memory!.bytes).toEqual(pictures[2])
  await second.close()
  await third.close()
})

test.each([
  ['stays as it was after its picture is closed', 1, 0, false],
  ['twice and came back once stays as it was', 2, 1, false],
  ['and came back is used again', 1, 1, true],
])('what was lent %s', async (_, times, back, isUsedAgain) => {
  const { pictures, open } = stage()
  const first = await open(0)
  const second = await open(1)
  const lent = Array.from({ length: times }, () => first.memory!.lend())
  for (const giveBack of lent.slice(0, back)) giveBack()
  await first.close()
  const third = await open(2)
  expect(memoryOf(third) === memoryOf(first)).toBe(isUsedAgain)
  if (!isUsedAgain) expect(first.memory!.bytes).toEqual(pictures[0])
  await second.close()
  await third.close()
})

test('what is put around a picture stands before and after its bytes, and leaves them as they are', async () => {
  const { pictures, open } = stage()
  const picture = await open(0)
  const framed = picture.memory!.framed(Buffer.from('head'), Buffer.from('tail'))
  expect(Buffer.from(framed!)).toEqual(
    Buffer.concat([Buffer.from('head'), pictures[0]!, Buffer.from('tail')]),
  )
  expect(picture.memory!.framed(Buffer.alloc(5000), Buffer.from('tail'))).toBeNull()
  expect(picture.memory!.bytes).toEqual(pictures[0])
  await picture.close()
})

/** Linux says of this file that it has 4,096 bytes, and there are fewer. */
const SHORTER = ['/sys/devices/system/cpu', 'online'] as const

test.runIf(process.platform === 'linux')('a picture that breaks off gives its memory back', async () => {
  const { buffers, open } = stage()
  const first = await open(0)
  const free = buffers.borrow(1)
  free.end()
  const broken = openPicture(...SHORTER, { changed: () => new Error('changed underway'), buffers })
  await expect(broken).rejects.toMatchObject({ code: 'CHANGING' })
  expect(buffers.borrow(1).bytes.buffer).toBe(free.bytes.buffer)
  await first.close()
})

test('a picture that follows once none is open has the memory of the one before, unless it was let go', async () => {
  const { buffers, open } = stage()
  const first = await open(0)
  await first.close()
  const second = await open(1)
  expect(memoryOf(second)).toBe(memoryOf(first))
  await second.close()
  buffers.letGo()
  const third = await open(2)
  expect(memoryOf(third)).not.toBe(memoryOf(first))
  await third.close()
})
