import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { startDaemon } from '../stage/process.ts'
import { setStage } from '../stage/stage.ts'

it('a backup beside a daemon takes the place of a lost state, and no picture is sent again', async () => {
  const stage = await setStage()
  const state = join(stage.home, 'state')
  const file = join(stage.home, 'copy.db')
  expect(await stage.albumd('backup', file)).toMatchObject({
    code: 2,
    err: expect.stringContaining('no state yet'),
  })
  stage.write('a.png', png(3, 2).bytes)
  stage.write('b/c.png', png(4, 2).bytes)
  const daemon = startDaemon(stage)
  await daemon.told('picture_uploaded', 2)
  for (let again = 0; again < 2; again++) {
    const { code, out } = await stage.albumd('backup', file, '--json')
    expect({ code, told: JSON.parse(out) }).toEqual({
      code: 0,
      told: { schema: 1, file, bytes: statSync(file).size },
    })
  }
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(stage.home).filter(name => name.endsWith('.tmp'))).toEqual([])
  expect(await daemon.stop()).toBe(0)

  const before = await stage.listing()
  rmSync(state, { recursive: true })
  mkdirSync(state, { mode: 0o700 })
  copyFileSync(file, join(state, 'albumd.db'))
  expect((await stage.sync()).code).toBe(0)
  expect(await stage.listing()).toEqual(before)
})

it('a backup replaces no file that is none, and nothing in the state folder', async () => {
  const stage = await setStage()
  stage.write('a.png', png(3, 2).bytes)
  expect((await stage.sync()).code).toBe(0)
  const other = join(stage.home, 'other.txt')
  writeFileSync(other, 'mine')
  const refused = async (file: string, words: string) =>
    expect(await stage.albumd('backup', file)).toMatchObject({ code: 2, err: expect.stringContaining(words) })
  await refused(other, 'no backup of albumd')
  await refused(join(stage.home, 'state/albumd.db'), 'in the state folder')
  await refused(join(stage.home, 'nowhere/copy.db'), 'no such folder')
  await refused(stage.home, 'no backup of albumd')
  expect(existsSync(join(stage.home, 'nowhere'))).toBe(false)
})
