import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/load-config.ts'
import { openIntake } from '../../../src/daemon/intake/intake.ts'
import { readState } from '../../../src/daemon/state/state.ts'
import { because, factOf } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { tempFolder } from '../../temp-folder.ts'

function setIntake() {
  const home = tempFolder()
  const folder = join(home, 'pictures')
  mkdirSync(folder)
  const text = `host: {base_url: http://127.0.0.1:1/api/v1}\nmirrors: [{folder: pictures, album: A}]\nstate_dir: state`
  const config = parseConfig(text, { file: join(home, 'albumd.yaml'), env: {} })
  return { folder, intake: readState(config, synced => openIntake(config, synced, folder)) }
}

const { bytes } = png(3, 2)

it('shows a picture only when it is whole, and keeps nothing of one that breaks off', async () => {
  const { folder, intake } = setIntake()
  async function* broken() {
    yield bytes.subarray(0, 9)
    expect(readdirSync(folder).filter(name => !name.startsWith('.'))).toEqual([])
    throw Object.assign(new Error('read'), { code: 'EIO', syscall: 'read' })
  }
  await expect(intake({ name: 'a.png', bytes: broken() })).rejects.toMatchObject({
    code: 'NOT_POSSIBLE',
  })
  expect(readdirSync(folder)).toEqual([])
})

it('gives a number to a picture whose name another program takes meanwhile', async () => {
  const { folder, intake } = setIntake()
  async function* slow() {
    yield bytes.subarray(0, 9)
    writeFileSync(join(folder, 'a.png'), 'other')
    yield bytes.subarray(9)
  }
  expect(await intake({ name: 'a.png', bytes: slow() })).toMatchObject({ path: 'a-1.png' })
  expect(readFileSync(join(folder, 'a.png'), 'utf8')).toBe('other')
  expect(readFileSync(join(folder, 'a-1.png'))).toEqual(Buffer.from(bytes))
})

it('keeps a name short enough for the disk', async () => {
  const { folder, intake } = setIntake()
  const name = `${'a'.repeat(300)}.png`
  async function* whole() {
    yield bytes
  }
  for (let n = 0; n < 2; n++) await intake({ name, bytes: whole() })
  expect(readdirSync(folder)).toEqual([`${'a'.repeat(251)}.png`])
})

it('leaves the same bytes where they lie, under any name that a scan finds', async () => {
  const { folder, intake } = setIntake()
  const put = (name: string, of = bytes) => intake({ name, bytes: Readable.from([of]) })
  writeFileSync(join(folder, '.hidden.png'), bytes)
  const other = png(3, 2, 7).bytes
  expect(other).toHaveLength(bytes.length)
  writeFileSync(join(folder, 'alike.png'), other)
  expect(await put('a.png')).toMatchObject({ path: 'a.png' })
  expect(await put('b.png')).toMatchObject({ path: 'a.png' })
  expect(await put('c.png', other)).toMatchObject({ path: 'alike.png' })
  // Its own name comes first.
  writeFileSync(join(folder, 'b.png'), bytes)
  expect(await put('b.png')).toMatchObject({ path: 'b.png' })
  expect(readdirSync(folder).sort()).toEqual(['.hidden.png', 'a.png', 'alike.png', 'b.png'])
})

it('names the format of bytes that the host does not take', async () => {
  const { folder, intake } = setIntake()
  const heic = Buffer.from(`\0\0\0\x18ftypheic\0\0\0\0mif1${'x'.repeat(99)}`)
  const said = factOf(because('foreign_picture', { format: 'HEIC' }))
  await expect(intake({ name: 'a.jpg', bytes: Readable.from([heic]) })).rejects.toMatchObject({
    code: 'NOT_POSSIBLE',
    message: expect.stringContaining(said),
  })
  expect(readdirSync(folder)).toEqual([])
})
