import { chownSync, cpSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PROGRAM, runFile } from '../e2e/stage/stage.ts'
import { tempFolder } from '../temp-folder.ts'

/** Where the built program keeps its compiled code, after it has run from a folder of its own that `owner` has. */
async function cacheAfterRun(owner: number | null): Promise<string> {
  const home = tempFolder()
  const dist = join(home, 'dist')
  cpSync(join(PROGRAM, '../..'), dist, { recursive: true, filter: path => !path.endsWith('/cache') })
  cpSync(join(PROGRAM, '../../../package.json'), join(home, 'package.json'))
  if (owner !== null)
    for (const path of ['', ...readdirSync(dist, { recursive: true, encoding: 'utf8' })])
      chownSync(join(dist, path), owner, owner)
  const program = join(dist, 'cli/albumd.js')
  // The tests have one of their own.
  const env = { NODE_COMPILE_CACHE: undefined, NODE_DISABLE_COMPILE_CACHE: undefined }
  expect(await runFile(process.execPath, [program, '--help'], home, env)).toMatchObject({ code: 0, err: '' })
  return join(dist, 'cache')
}

it('is kept beside the program', async () => {
  expect(existsSync(await cacheAfterRun(null))).toBe(true)
})

it.runIf(process.getuid?.() === 0)(
  "is not kept where the program is another user's, who could not build it anew",
  async () => {
    expect(existsSync(await cacheAfterRun(65534))).toBe(false)
  },
)
