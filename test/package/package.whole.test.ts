import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setStage, sha256 } from '../e2e/stage/stage.ts'
import { png } from '../pictures.ts'
import { tempFolder } from '../temp-folder.ts'
import { type Installed, packAndInstall } from './installed.ts'

const CHECKOUT = join(import.meta.dirname, '../..')
const BESIDE_THE_PROGRAM = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'config.example.yaml',
  'config.schema.json',
  'examples/link-page/README.md',
  'examples/link-page/add-to-page.sh',
  'examples/link-page/albumd.yaml',
  'examples/screenshot-link/README.md',
  'examples/screenshot-link/albumd.yaml',
  'examples/screenshot-link/copy-link.sh',
  'package.json',
  'systemd/albumd-user.service',
  'systemd/albumd.service',
  'systemd/albumd@.service',
  'systemd/sysusers.conf',
]

describe('the package', () => {
  let installed: Installed
  beforeAll(async () => {
    installed = await packAndInstall()
  }, 600_000)
  afterAll(() => installed?.dispose())

  it('holds the program, what it reads, what a person reads, and nothing else', () => {
    const isProgram = (path: string) => /^dist\/cli\/([\w-]+\.js|llhttp(_simd)?\.wasm)$/.test(path)
    expect(installed.files).toContain('dist/cli/albumd.js')
    expect(installed.files).toContain('dist/cli/scan-worker.js')
    const read = ['cli/try/pictures', 'page/assets'].flatMap(folder => filesOf(`src/${folder}`))
    const inDist = read.map(path => join('dist', relative('src', path)))
    const beside = [
      ...BESIDE_THE_PROGRAM,
      'dist/package.json',
      ...inDist,
      ...['docs', 'man'].flatMap(filesOf),
    ]
    expect(installed.files.filter(path => !isProgram(path))).toEqual(beside.sort())
  })

  it('is installed into an empty prefix without a script or a warning', () => {
    expect(installed.install).toMatchObject({ code: 0, err: '' })
  })

  it('has its manuals where man finds them', async () => {
    const { out } = await installed.run('npm', ['prefix', '--global'], '/')
    const manuals = ['man1/albumd.1', 'man5/albumd-config.5', 'man8/albumd.service.8']
    expect(manuals.filter(path => existsSync(join(out.trim(), 'share/man', path)))).toEqual(manuals)
  })

  it('says its version and its commands', async () => {
    const { version } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'))
    expect(await installed.run('albumd', ['--version'], '/')).toEqual({
      code: 0,
      out: `${version}\n`,
      err: '',
    })
    const help = await installed.run('albumd', ['--help'], '/')
    expect(help).toMatchObject({ code: 0, err: '' })
    expect(help.out).toContain('albumd sync')
  })

  it('mirrors: its database, its scan and its requests work', async () => {
    const stage = await setStage({ host: { tls: true } })
    const { bytes } = png()
    stage.write('Holiday/Beach.png', bytes)
    const config = ['--config', stage.config]
    expect(await installed.run('albumd', ['sync', ...config], stage.home)).toMatchObject({ code: 0, err: '' })
    expect(await stage.delivered()).toEqual({ 'Photos/Holiday/Beach.png': sha256(bytes) })
    const address = await installed.run('albumd', ['url', 'Holiday/Beach.png', ...config], stage.home)
    expect(address.out).toMatch(/^https:.*\n$/)
  })

  it('tries itself out: npx finds it, and its samples are mirrored', async () => {
    const cwd = tempFolder()
    // In a group of its own, which Ctrl-C reaches whole.
    const npx = spawn('npx', ['albumd', 'try'], {
      cwd,
      env: { ...process.env, ...installed.env },
      detached: true,
    })
    let said = ''
    npx.stdout.on('data', chunk => {
      said += chunk
    })
    const ended = once(npx, 'close')
    try {
      await expect.poll(() => said).toContain('17 of 17 pictures on the host')
      expect(said).toContain('npx albumd ls --left-out -c albumd-try/samples/albumd.yaml')
    } finally {
      process.kill(-npx.pid!, 'SIGINT')
      await ended
    }
    expect(said).toContain('Stopped.')
  })
})

function filesOf(folder: string): string[] {
  const entries = readdirSync(join(CHECKOUT, folder), { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => relative(CHECKOUT, join(parentPath, name)))
}
