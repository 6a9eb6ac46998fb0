import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { realPathOf } from '../../src/config/paths.ts'
import { tempFolder } from '../temp-folder.ts'

it('a folder has the same real path whether the end of its link is there or not', () => {
  const home = tempFolder()
  const folder = join(home, 'mnt/usb/Pictures')
  mkdirSync(folder, { recursive: true })
  symlinkSync('mnt/usb/Pictures', join(home, 'Pictures'))
  symlinkSync(join(home, 'Pictures'), join(home, 'again'))
  for (const name of ['Pictures', 'again']) expect(realPathOf(join(home, name))).toBe(folder)
  rmSync(join(home, 'mnt/usb'), { recursive: true })
  for (const name of ['Pictures', 'again']) expect(realPathOf(join(home, name))).toBe(folder)
  expect(realPathOf(join(home, 'again/2024'))).toBe(join(folder, '2024'))
})

it('links that lead in a circle are taken as they are', () => {
  const home = tempFolder()
  symlinkSync('b', join(home, 'a'))
  symlinkSync('a', join(home, 'b'))
  expect(realPathOf(join(home, 'a/x'))).toBe(join(home, 'a/x'))
})
