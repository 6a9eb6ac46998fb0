import { statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeFolder } from '../../src/local/make-folder.ts'
import { tempFolder } from '../temp-folder.ts'

it('makes what is missing, takes what is there, and says what is in its way', () => {
  const home = tempFolder()
  makeFolder(join(home, 'a/b/c'), 0o700)
  expect(statSync(join(home, 'a')).mode & 0o777).toBe(0o700)
  makeFolder(join(home, 'a/b/c'), 0o700)
  symlinkSync('a', join(home, 'link'))
  makeFolder(join(home, 'link'), 0o700)
  writeFileSync(join(home, 'file'), '')
  expect(() => makeFolder(join(home, 'file'), 0o700)).toThrow('EEXIST')
  expect(() => makeFolder(join(home, 'file/below'), 0o700)).toThrow('ENOTDIR')
})

it.runIf(process.platform === 'linux')(
  'ends where the system takes no folder although the parent is there',
  () => {
    for (const folder of ['/proc/nope', '/proc/nope/below'])
      expect(() => makeFolder(folder, 0o700)).toThrow('ENOENT')
  },
)
