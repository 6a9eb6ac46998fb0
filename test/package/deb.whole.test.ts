import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runFile, sha256 } from '../e2e/stage/stage.ts'
import { png } from '../pictures.ts'
import { boot, canBoot, seldom } from '../systemd/booted.ts'
import { mirrored } from '../systemd/service-steps.ts'
import { copySources } from './installed.ts'

const ARCH = process.arch === 'arm64' ? 'arm64' : 'amd64'
const SOURCE_DATE_EPOCH = '1790000000'
const run = (program: string, ...args: string[]) => runFile(program, args, '/var/tmp')
const tools = ['dpkg-deb', 'lintian', 'mmdebstrap'].map(tool => run(tool, '--version'))
const canRun = canBoot() && (await Promise.all(tools)).every(({ code }) => code === 0)

const { version: VERSION } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
const NEXT = `${VERSION}+next`
const APT = 'DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes'

describe.skipIf(!canRun && !process.env.CI)('the Debian package', () => {
  let home: string
  /** A Debian 12 with apt, and without anything that Debian could do without. */
  let bare: string
  /** The folders of two builds. */
  let folders: string[]
  let deb: string
  const inBare = (line: string) => {
    const own = ['--fork', '--pid', '--kill-child', '--mount', `--mount-proc=${join(bare, 'proc')}`]
    return run('unshare', ...own, 'chroot', bare, 'sh', '-c', `cd /root; ${line}`)
  }
  beforeAll(async () => {
    // Whole systems are too large for memory.
    home = mkdtempSync('/var/tmp/albumd-deb-')
    bare = join(home, 'bare')
    // No power cut is to be survived here, and dpkg would wait for the disk after each file.
    const careless = '--dpkgopt=force-unsafe-io'
    const bootstrap = run(
      'mmdebstrap',
      '--quiet',
      '--variant=apt',
      '--skip=cleanup/apt',
      careless,
      // As the installer makes it. A conversion afterwards would bring Perl.
      '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr',
      '--include=usr-is-merged',
      'bookworm',
      bare,
    )
    folders = await Promise.all([
      build(home, 'one', 'umask 022'),
      build(home, 'two', 'umask 077; export TZ=Asia/Tokyo'),
    ])
    deb = join(folders[0]!, `albumd_${VERSION}_${ARCH}.deb`)
    expect(await bootstrap).toMatchObject({ code: 0 })
    cpSync(deb, join(bare, 'root/albumd.deb'))
    expect(await inBare(`${APT} install ./albumd.deb`)).toMatchObject({ code: 0 })
  })
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
    // Reading all words in Node.js's program takes minutes, and finds its spelling mistakes.
    const found = await run('lintian', '--fail-on=error', '--dont-check-part=binaries/spelling', deb)
    expect(found.out.split('\n').filter(line => line.startsWith('E:'))).toEqual([])
    expect(found.code).toBe(0)
  })

  it('is installed with apt alone, and mirrors its samples within a minute', async () => {
    const mirrors =
      "until grep --quiet --no-messages '17 of 17 pictures on the host' said; do sleep 0.2; done"
    const line = `albumd try > said & timeout 60 sh -c "${mirrors}"; found=$?; kill $!; exit $found`
    expect(await inBare(line)).toMatchObject({ code: 0 })
  })

  it('is upgraded over a running service, removed, and purged, and its state goes when a person says so', async () => {
    const booted = await boot([], {}, bare)
    const sh = (line: string) => booted.done('sh', '-c', line)
    const serves = async () => (await booted.show('ActiveState')).ActiveState
    booted.setUp()
    booted.write('red.png', png(3, 2, 10).bytes)
    expect((await booted.done('albumd', 'service', 'install')).split('\n')).toEqual([
      'the user albumd is there',
      '/usr/lib/systemd/system/albumd.service is there',
      'albumd.service starts with the machine from now on',
      'started albumd.service',
      '',
    ])
    await mirrored(booted, 'red.png')
    const before = (await booted.show('MainPID')).MainPID
    await sh('echo TZ=Asia/Tokyo >> /etc/default/albumd')

    cpSync(await nextVersion(deb), booted.at('/root/next.deb'))
    await sh(`${APT} install /root/next.deb`)
    expect(await booted.done('albumd', '--version')).toBe(`${NEXT}\n`)
    await expect.poll(serves, seldom).toBe('active')
    const { MainPID: pid } = await booted.show('MainPID')
    expect(pid).not.toBe(before)
    expect(await sh(`readlink /proc/${pid}/exe`)).toBe('/usr/lib/albumd/bin/node\n')
    expect(await sh(`tr '\\0' '\\n' < /proc/${pid}/environ`)).toContain('TZ=Asia/Tokyo\n')
    booted.write('green.png', png(3, 2, 20).bytes)
    await mirrored(booted, 'red.png', 'green.png')

    await sh(`${APT} remove albumd`)
    expect(await serves()).toBe('inactive')
    const STATE = ['/var/lib/albumd/albumd.db', '/etc/albumd/config.yaml', '/etc/albumd/api-key']
    const left = () => STATE.filter(path => existsSync(booted.at(path)))
    expect([existsSync(booted.at('/usr/lib/albumd')), existsSync(booted.at('/etc/default/albumd'))]).toEqual([
      false,
      true,
    ])
    expect(left()).toEqual(STATE)
    expect(await sh(`${APT} purge albumd 2>&1`)).toContain('/var/lib/albumd stays')
    expect(left()).toEqual(STATE)
    expect(existsSync(booted.at('/etc/default/albumd'))).toBe(false)

    // As a person answers it.
    await sh('dpkg --install /root/albumd.deb')
    expect(await serves()).toBe('inactive')
    const asked = await sh(
      "echo yes | DEBIAN_FRONTEND=readline script --quiet --return --command 'dpkg --purge albumd'",
    )
    expect(asked).toContain("Delete albumd's state, config and API keys?")
    expect(left()).toEqual([])
  })
})

/** Builds the package in a copy of the sources, and answers the folder that holds what was built. */
async function build(home: string, name: string, before: string): Promise<string> {
  const into = join(home, name)
  const sources = join(home, `${name}-sources`)
  for (const folder of [into, sources]) mkdirSync(folder)
  const copy = copySources(sources, realpathSync(join(import.meta.dirname, '../../node_modules')))
  const line = `${before}; npm run --silent deb -- --quick --arch ${ARCH} --into '${into}'`
  const err = `gathering the files for ${ARCH}\npacking them\n`
  expect(await runFile('sh', ['-c', line], copy, { SOURCE_DATE_EPOCH })).toMatchObject({ code: 0, err })
  return into
}

/** The same package with another version, in it and of it. */
async function nextVersion(deb: string): Promise<string> {
  const [tree, next] = [`${deb}-tree`, `${deb}-next.deb`]
  const steps = [
    `dpkg-deb --raw-extract '${deb}' '${tree}'`,
    `sed -i 's/${VERSION}/${NEXT}/' '${tree}/DEBIAN/control' '${tree}/usr/lib/albumd/package.json'`,
    `dpkg-deb -Znone --build '${tree}' '${next}'`,
  ]
  expect(await run('sh', '-c', steps.join(' && '))).toMatchObject({ code: 0 })
  return next
}
