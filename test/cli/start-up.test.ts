import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** The sources: what is shipped has its packages within it. */
const PROGRAM = fileURLToPath(new URL('../../src/cli/albumd.ts', import.meta.url))

/** Says at the end on standard error which packages were loaded. */
const TELL = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  const packages = new Set()
  registerHooks({ load(url, context, next) {
    const found = url.split('/node_modules/').at(-1)
    if (found !== url) packages.add(found.split('/')[0])
    return next(url, context)
  } })
  process.on('exit', () => process.stderr.write(JSON.stringify([...packages])))
`)}`

async function packagesOf(...args: string[]): Promise<string[]> {
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', TELL, ...args])
  return JSON.parse(stderr) as string[]
}

/** What takes longer to load than all of yargs. */
const HEAVY = ['zod', 'yaml', 'undici', 'pino', 'better-sqlite3', 'hono', '@hono', 'ora', 'chokidar']
const heavy = (packages: string[]) => packages.filter(name => HEAVY.includes(name))

it('--version loads no package at all', async () => {
  expect(await packagesOf(PROGRAM, '--version')).toEqual([])
})

it('the help texts wait for nothing that only work needs', async () => {
  const packages = await packagesOf(PROGRAM, 'sync', '--help')
  expect(packages).toContain('yargs')
  expect(heavy(packages)).toEqual([])
})

it('nor does any command before it is carried out', async () => {
  const commands = new URL('../../src/cli/commands.ts', import.meta.url)
  const loadAll = `const { COMMANDS } = await import('${commands}'); for (const { load } of COMMANDS) await load()`
  const packages = await packagesOf('--input-type=module', '--eval', loadAll)
  expect(packages).toContain('bytes')
  expect(heavy(packages)).toEqual([])
})
