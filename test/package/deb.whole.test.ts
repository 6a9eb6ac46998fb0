import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runFile, sha256 } from '../e2e/stage/stage.ts'
import { copySources } from './installed.ts'

const ARCH = process.arch === 'arm64' ? 'arm64' : 'amd64'
const EPOCH_S = 1_790_000_000
/** Both are Debian's. */
const TOOLS = ['dpkg-deb', 'lintian']
const home = mkdtempSync(join(realpathSync(tmpdir()), 'albumd-deb-'))
const run = (program: string, ...args: string[]) => runFile(program, args, home)
const lacks = await Promise.all(TOOLS.map(async tool => (await run(tool, '--version')).code !== 0))

describe.skipIf(lacks.includes(true) && !process.env.CI)('the Debian package', { timeout: 300_000 }, () => {
  /** The folders of two builds. */
  let folders: string[]
  let deb: string
  beforeAll(async () => {
    folders = await Promise.all([build('one', 'umask 022'), build('two', 'umask 077; export TZ=Asia/Tokyo')])
    deb = join(folders[0]!, readdirSync(folders[0]!).find(name => name.endsWith('.deb'))!)
  }, 300_000)
  afterAll(() => rmSync(home, { recursive: true }))

  it('has the same bytes, whoever builds it, and so has its bill of materials', () => {
    const [first, second] = folders.map(folder =>
      readdirSync(folder).map(name => `${sha256(readFileSync(join(folder, name)))} ${name}`),
    )
    expect(first).toHaveLength(2)
    expect(second).toEqual(first)
  })

  it('has a bill of materials that names the package, its Node.js and what is in the bundle', () => {
    const { metadata, components, ...more } = JSON.parse(
      readFileSync(deb.replace(/deb$/, 'cdx.json'), 'utf8'),
    )
    expect(more).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' })
    expect(metadata.component).toMatchObject({
      name: 'albumd',
      hashes: [{ alg: 'SHA-256', content: sha256(readFileSync(deb)) }],
    })
    const names = components.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(['node', 'better-sqlite3', 'undici', 'yargs']))
    expect(names).not.toContain('vitest')
  })

  it('is one in which lintian finds no error', async () => {
    const found = await run('lintian', '--fail-on=error', deb)
    expect(found.out.split('\n').filter(line => line.startsWith('E:'))).toEqual([])
    expect(found.code).toBe(0)
  })
})

/** Builds the package in a copy of the sources, and answers the folder that holds what was built. */
async function build(name: string, before: string): Promise<string> {
  const into = join(home, name)
  mkdirSync(into)
  const sources = join(home, `${name}-sources`)
  mkdirSync(sources)
  const copy = copySources(sources, realpathSync(join(import.meta.dirname, '../../node_modules')))
  const line = `${before}; npm run --silent deb -- --quick --arch ${ARCH} --into '${into}'`
  const env = { SOURCE_DATE_EPOCH: String(EPOCH_S) }
  expect(await runFile('sh', ['-c', line], copy, env)).toMatchObject({ code: 0, err: '' })
  return into
}
