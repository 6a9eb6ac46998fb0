import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { surveyFolder } from '../../../src/daemon/doctor/survey-folder.ts'
import { tempFolder } from '../../temp-folder.ts'

it('counts as pictures what a scan does: none that is empty, hidden, a link or of another format', async () => {
  const root = tempFolder()
  mkdirSync(join(root, 'a'))
  mkdirSync(join(root, '.hidden'))
  for (const name of ['one.png', 'a/two.JPG', '.dot.png', '.hidden/three.png', 'notes.txt'])
    writeFileSync(join(root, name), 'x')
  writeFileSync(join(root, 'empty.png'), '')
  symlinkSync('one.png', join(root, 'link.png'))
  expect(await surveyFolder(root, new AbortController().signal)).toEqual({
    folders: 2,
    pictures: 2,
    unreadable: { folders: 0, pictures: 0, first: null },
  })
})
