import { appendFileSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openFolderPoller } from '../../src/local/folder-poller.ts'
import { plant, tempFolder } from '../temp-folder.ts'

it('tells which folders gained, lost or renamed an entry since the last time', async () => {
  const root = tempFolder()
  plant(root, { 'a/x.jpg': 'x', 'b/x.jpg': 'x', 'c/x.jpg': 'x', 'd/': '' })
  const folders = ['', 'a', 'b', 'c', 'd', 'missing']
  // Else what comes next may bear the same stamp: a kernel's clock goes on every few milliseconds.
  for (const folder of ['a', 'b', 'c', 'd', '']) utimesSync(join(root, folder), 1, 1)
  const poller = openFolderPoller(root)
  expect(await poller.poll(folders)).toEqual(folders)
  expect(await poller.poll(folders)).toEqual([])
  writeFileSync(join(root, 'a/y.jpg'), 'y')
  renameSync(join(root, 'b/x.jpg'), join(root, 'b/z.jpg'))
  rmSync(join(root, 'c/x.jpg'))
  expect(await poller.poll(folders)).toEqual(['a', 'b', 'c'])
  rmSync(join(root, 'd'), { recursive: true })
  mkdirSync(join(root, 'missing'))
  expect(await poller.poll(folders)).toEqual(['', 'd', 'missing'])
})

it('does not see what was edited in place, and begins anew with a folder that was left out', async () => {
  const root = tempFolder()
  plant(root, { 'a/x.jpg': 'x', 'b/': '' })
  const poller = openFolderPoller(root)
  await poller.poll(['a', 'b'])
  appendFileSync(join(root, 'a/x.jpg'), 'x')
  expect(await poller.poll(['a'])).toEqual([])
  expect(await poller.poll(['a', 'b'])).toEqual(['b'])
})
