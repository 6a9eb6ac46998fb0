import { isAscii } from 'node:buffer'
import { execFile } from 'node:child_process'
import { chownSync, cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { PROGRAM as BUILT, runFile } from '../e2e/stage/stage.ts'
import { NOBODY } from '../nobody.ts'
import { tempFolder } from '../temp-folder.ts'

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
const HEAVY = [
  'zod',
  'yaml',
  'undici',
  'pino',
  'better-sqlite3',
  'hono',
  '@hono',
  'ora',
  'chokidar',
  'ioredis',
]
const heavy = (packages: string[]) => packages.filter(name => HEAVY.includes(name))

it('--version loads no package at all', async () => {
  expect(await packagesOf(PROGRAM, '--version')).toEqual([])
})

it('the help texts wait for nothing that only work needs', async () => {
  const packages = await packagesOf(PROGRAM, 'sync', '--help')
  expect(packages).toContain('yargs')
  expect(heavy(packages)).toEqual([])
})

it('without a word it shows the help', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM])
  expect(stdout).toMatch(/^albumd <command>\n.*\n {2}albumd sync \[paths\.\.\] /s)
})

it('a plain command line is read without yargs', async () => {
  expect(await packagesOf(PROGRAM, 'completion', 'bash')).not.toContain('yargs')
})

it('nor does any command before it is carried out', async () => {
  const commands = new URL('../../src/cli/commands.ts', import.meta.url)
  const loadAll = `const { COMMANDS } = await import('${commands}'); for (const { load } of COMMANDS) await load()`
  const packages = await packagesOf('--input-type=module', '--eval', loadAll)
  expect(packages).toContain('bytes')
  expect(heavy(packages)).toEqual([])
})

/** Where the built program keeps its compiled code, after it has run from a folder of its own that `owner` has. */
async function cacheAfterRun(owner: number | null): Promise<string> {
  const home = tempFolder()
  const dist = join(home, 'dist')
  cpSync(join(BUILT, '../..'), dist, { recursive: true, filter: path => !path.endsWith('/cache') })
  cpSync(join(BUILT, '../../../package.json'), join(home, 'package.json'))
  if (owner !== null)
    for (const path of ['', ...readdirSync(dist, { recursive: true, encoding: 'utf8' })])
      chownSync(join(dist, path), owner, owner)
  const program = join(dist, 'cli/albumd.js')
  // The tests have one of their own.
  const env = { NODE_COMPILE_CACHE: undefined, NODE_DISABLE_COMPILE_CACHE: undefined }
  expect(await runFile(process.execPath, [program, '--help'], home, env)).toMatchObject({ code: 0, err: '' })
  return join(dist, 'cache')
}

it('compiled code is kept beside the program', async () => {
  expect(existsSync(await cacheAfterRun(null))).toBe(true)
})

it.runIf(process.getuid?.() === 0)(
  "compiled code is not kept where the program is another user's, who could not build it anew",
  async () => {
    expect(existsSync(await cacheAfterRun(NOBODY))).toBe(false)
  },
)

it('the built files are ASCII', () => {
  const folder = join(BUILT, '..')
  const files = readdirSync(folder).filter(name => name.endsWith('.js'))
  expect(files.filter(name => !isAscii(readFileSync(join(folder, name))))).toEqual([])
})

it('help and version may be typed as words', async () => {
  const home = tempFolder()
  const said = async (...args: string[]) => (await runFile(process.execPath, [BUILT, ...args], home)).out
  const version = await said('version')
  expect(version).toMatch(/^\d/)
  expect(version).toBe(await said('--version'))
  expect(await said('help')).toBe(await said('--help'))
  expect(await said('help', 'sync')).toBe(await said('sync', '--help'))
})
