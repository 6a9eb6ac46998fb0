import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { daemonHere } from '../stage/process.ts'
import { setStage } from '../stage/stage.ts'

const bytes = (n: number) => png(2 + n, 2, n).bytes

it('every way in which a picture arrives is noticed, each while nothing else happens', async () => {
  const stage = await setStage()
  const mirror = (path: string) => join(stage.pictures, path)
  const aside = (path: string) => join(stage.home, 'aside', path)
  for (const folder of ['aside/tree/deep/deeper', 'aside/other'])
    mkdirSync(join(stage.home, folder), { recursive: true })
  mkdirSync(mirror('a'))
  writeFileSync(aside('tree/deep/deeper/in-a-tree.png'), bytes(1))
  writeFileSync(aside('other/swapped.png'), bytes(2))
  writeFileSync(aside('saved.png'), bytes(3))
  writeFileSync(aside('linked.png'), bytes(4))
  stage.write('a/first.png', bytes(0))
  const daemon = await daemonHere(stage)
  await daemon.told('picture_uploaded')

  const arrivals: Record<string, () => void> = {
    'tree/deep/deeper/in-a-tree.png': () => renameSync(aside('tree'), mirror('tree')),
    'tree/swapped.png': () => {
      renameSync(mirror('tree'), aside('old'))
      renameSync(aside('other'), mirror('tree'))
    },
    'tree/again/made-again.png': () => {
      rmSync(mirror('tree'), { recursive: true })
      mkdirSync(mirror('tree/again'), { recursive: true })
      writeFileSync(mirror('tree/again/made-again.png'), bytes(5))
    },
    'x/y/z/at-once.png': () => stage.write('x/y/z/at-once.png', bytes(6)),
    'a/saved.png': () => renameSync(aside('saved.png'), mirror('a/saved.png')),
    'x/linked.png': () => linkSync(aside('linked.png'), mirror('x/linked.png')),
    'rsynced.png': () => {
      writeFileSync(mirror('.rsynced.png.Xy12Ab'), bytes(7))
      renameSync(mirror('.rsynced.png.Xy12Ab'), mirror('rsynced.png'))
    },
  }
  for (const [path, arrive] of Object.entries(arrivals)) {
    arrive()
    await expect.poll(() => daemon.paths('picture_uploaded')).toContain(path)
  }
  expect(await stage.status()).toMatchObject({
    watching: { folders: 7, lost: 0, polled: false, reason: null, remedy: null },
  })
  expect(await daemon.stop()).toBe(0)
  expect(await stage.status()).toMatchObject({ watching: null })
})

it('a mirror can be polled instead of watched', async () => {
  const stage = await setStage({ config: { watch: { settle: '100ms', poll: '1s' } } })
  const daemon = await daemonHere(stage)
  await daemon.told('scan_finished')
  stage.write('a/new.png', bytes(1))
  await daemon.told('picture_uploaded')
  stage.write('a/newer.png', bytes(2))
  await daemon.told('picture_uploaded', 2)
  expect(await stage.status()).toMatchObject({ watching: { folders: 0, lost: 0, polled: true } })
  expect(await daemon.stop()).toBe(0)
})
