import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { execute } from '../../e2e/stage/stage.ts'
import { canPreload } from '../../preload.ts'
import { Random } from '../histories/random.ts'
import { DiskRecord } from './disk-record.ts'
import { RecordedDisk } from './recorded-disk.ts'
import { makeRecorder } from './recorder.ts'

const SRC = join(import.meta.dirname, '../../../src')

describe.skipIf(!canPreload() && !process.env.CI)('whatever a power cut takes', () => {
  it('a file that was replaced has its name, its bytes and its times', async () => {
    const { disk, file } = await recorded('/state/file', [
      `const { replaceFile } = await import('${SRC}/synced/private-file.ts')`,
      `mkdirSync(home + '/state')`,
      `const folder = openSync(home, 'r'); fsyncSync(folder)`,
      // As a power cut may leave it.
      `writeFileSync(file + '.tmp', 'unfinished')`,
      `replaceFile(file, 'one'); replaceFile(file, 'two')`,
    ])
    const { ino, ctime } = disk.stat(file)!
    for (const left of manyCuts(disk)) {
      const found = left.get('state/file')
      expect(`${found?.bytes}`).toBe('two')
      expect(found).toMatchObject({ ino, changes: [{ ctime }] })
    }
  })

  it('a folder that was made is there, with those above it', async () => {
    const { disk } = await recorded('/a/b/c', [
      `const { makeFolder } = await import('${SRC}/local/make-folder.ts')`,
      `makeFolder(file, 0o700)`,
    ])
    for (const left of manyCuts(disk)) expect([...left.keys()]).toEqual(['', 'a', 'a/b', 'a/b/c'])
  })
})

/** What a program does with a disk. It finds the path of `file` there as `file`, and the disk as `home`. */
async function recorded(file: string, program: string[]): Promise<{ disk: RecordedDisk; file: string }> {
  const recorder = makeRecorder()
  onTestFinished(recorder.remove)
  const home = join(recorder.env.RECORD_BELOW, 'home')
  mkdirSync(home)
  const text = [
    `import { fsyncSync, mkdirSync, openSync, writeFileSync } from 'node:fs'`,
    `const home = '${home}', file = home + '${file}'`,
    ...program,
  ].join('\n')
  const env = { ...process.env, ...recorder.env }
  const run = await execute(process.execPath, ['--input-type=module', '-e', text], { env })
  expect(run).toMatchObject({ code: 0, err: '' })
  const disk = new RecordedDisk(home, null)
  disk.take(new DiskRecord(recorder.env.RECORD_TO).news())
  return { disk, file: home + file }
}

/** What power cuts at the end may leave. */
function manyCuts(disk: RecordedDisk) {
  return Array.from({ length: 100 }, (_, seed) => disk.afterCut(disk.ops.length, new Random(seed)).left)
}
