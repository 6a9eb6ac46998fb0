import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { daemonHere, startDaemon } from '../stage/process.ts'
import { setStage, sha256 } from '../stage/stage.ts'

const red = png(3, 2, 10).bytes
const green = png(3, 2, 20).bytes

/** A stage whose daemon has mirrored red.png. */
async function mirroring() {
  const stage = await setStage()
  stage.write('red.png', red)
  const daemon = await daemonHere(stage)
  await daemon.told('picture_uploaded')
  return { stage, daemon }
}

describe('beside a running daemon', () => {
  it('sync is carried out by it, with the same output, JSON and exit codes', async () => {
    const { stage, daemon } = await mirroring()
    stage.write('a/green.png', green)
    const { code, out } = await stage.sync()
    expect(code).toBe(0)
    // The daemon may have seen the new picture before the command came.
    expect(out).toMatch(/1 picture uploaded\n$|nothing to do: all in sync\n$/)
    expect(Object.keys(await stage.delivered()).sort()).toEqual(['Photos/a/green.png', 'Photos/red.png'])
    expect(await stage.json('sync')).toMatchObject({
      exit_code: 0,
      stopped: [],
      mirrors: [{ state: 'idle', synced: 2, pending_uploads: 0 }],
    })
    stage.write('prose.png', 'no picture')
    expect(await stage.here('sync')).toMatchObject({
      code: 3,
      out: expect.stringContaining('left: 1 failed'),
    })
    expect(daemon.events().filter(({ what }) => what === 'sync')).toHaveLength(3)
    expect(await daemon.stop()).toBe(0)
    expect(readdirSync(join(stage.home, 'state'))).not.toContain('control.sock')
  })

  it('shows what its pass does while it does it', async () => {
    const stage = await setStage({ config: { watch: { poll: '1d' } } })
    const daemon = await daemonHere(stage)
    await daemon.told('scan_finished')
    stage.write('red.png', red)
    const { code, out } = await stage.here('sync')
    expect(code).toBe(0)
    expect(out).toContain('uploaded red.png')
    expect(out).toContain('1 picture uploaded\n')
    expect(await daemon.stop()).toBe(0)
  })

  it('retry, audit and adopt work, and what they refuse is said as without it', async () => {
    const { stage, daemon } = await mirroring()
    expect(await stage.here('audit')).toMatchObject({ code: 0, out: '1 album compared: no difference\n' })
    expect(await stage.here('adopt', '--verify')).toMatchObject({
      code: 0,
      out: expect.stringContaining('\n0 linked images proved to be the same\n'),
      err: '',
    })
    expect(await stage.albumd('retry', 'no/such.png')).toEqual({
      code: 2,
      out: '',
      err: expect.stringContaining('albumd: Nothing failed at or below no/such.png. '),
    })
    expect(daemon.events().flatMap(({ what }) => what ?? [])).toEqual(['audit', 'adopt', 'retry'])
    expect(await daemon.told('audit_finished')).toMatchObject({ albums: 1, findings: 0, skipped: 0 })
    expect(await daemon.stop()).toBe(0)
  })

  it('a folder in doubt is trusted, and the daemon goes on with it', async () => {
    const { stage, daemon } = await mirroring()
    renameSync(stage.pictures, `${stage.pictures}-old`)
    mkdirSync(stage.pictures)
    stage.write('green.png', green)
    expect(await stage.here('sync')).toMatchObject({ code: 3, out: expect.stringContaining('guarded') })
    expect(await stage.json('trust', stage.pictures)).toMatchObject({ trusted: true, missing: 1 })
    await daemon.told('picture_uploaded', 2)
    const { code, err } = await stage.here('trust', stage.home)
    expect(code).toBe(2)
    expect(err).toContain(`albumd: ${stage.home} lies in no mirror; the only mirror is ${stage.pictures}\n`)
    expect(await daemon.stop()).toBe(0)
  })

  it('needs no key, only the config that the daemon runs with', async () => {
    const { stage, daemon } = await mirroring()
    const key = readFileSync(join(stage.home, 'api-key'))
    rmSync(join(stage.home, 'api-key'))
    expect(await stage.here('sync')).toMatchObject({ code: 0 })
    writeFileSync(join(stage.home, 'api-key'), key, { mode: 0o600 })
    stage.configure({ uploads: { concurrency: 3 } })
    const { code, err } = await stage.here('sync')
    expect(code).toBe(4)
    expect(err.trimEnd().split('\n').at(-1)).toContain(`kill -HUP ${daemon.pid}`)
    // It looks at no mirror.
    expect(await stage.here('resume')).toMatchObject({ code: 0 })
    expect(await daemon.stop()).toBe(0)
  })

  it('its socket is for its user alone, and one that was left behind is replaced', async () => {
    const stage = await setStage()
    const socket = join(stage.home, 'state/control.sock')
    const killed = startDaemon(stage)
    await killed.told('scan_finished')
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    killed.kill('SIGKILL')
    await killed.ended
    expect(statSync(socket).isSocket()).toBe(true)
    expect(await stage.here('sync')).toMatchObject({ code: 0 })
    const daemon = await daemonHere(stage)
    await daemon.told('scan_finished')
    await stage.here('sync')
    expect(daemon.events()).toContainEqual(expect.objectContaining({ event: 'asked_for', what: 'sync' }))
    expect(await daemon.stop()).toBe(0)
  })
})

describe('SIGHUP', () => {
  it('takes a changed config and goes on with what is left; a wrong one is refused', async () => {
    const stage = await setStage({ config: { uploads: { order: 'oldest' } } })
    for (let n = 0; n < 30; n++) stage.write(`${n}.png`, png(2 + n, 2).bytes)
    stage.configure({
      host: { base_url: stage.baseUrl, api_key_file: 'api-key', requests_per_second: { upload: 2 } },
    })
    const daemon = await daemonHere(stage)
    await daemon.told('picture_uploaded', 2)
    stage.configure({ mirrors: [{ folder: 'pictures', albums: 'Photos' }] })
    daemon.kill('SIGHUP')
    await daemon.told('config_refused')
    const [refused] = daemon.events().filter(({ event }) => event === 'config_refused')
    expect(refused!.message).toContain('mirrors[0].album')
    expect(await daemon.told('trouble')).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('mirrors[0].album'),
    })
    const unread = await stage.here('status')
    expect(unread).toMatchObject({ code: 2, out: '', err: expect.stringContaining('mirrors[0].album') })
    stage.configure({ mirrors: [{ folder: 'pictures', album: 'Elsewhere' }] })
    daemon.kill('SIGHUP')
    await daemon.told('config_refused', 2)
    expect(await stage.json('status')).toMatchObject({
      other_config: true,
      config_refused: expect.stringContaining('Elsewhere'),
      // What it refused is not at work.
      mirrors: [{ album: 'Photos' }],
    })
    const { out } = await stage.here('status')
    expect(out).toContain('Let it read the config again: kill -HUP ')
    expect(out.match(/^config /gm)).toHaveLength(1)
    const other = join(stage.home, 'other.yaml')
    copyFileSync(stage.config, other)
    expect((await stage.here('status', '-c', other)).out).toContain(
      `Name the one that it runs with: ${stage.config}\n`,
    )

    const more = join(stage.home, 'more')
    mkdirSync(more)
    writeFileSync(join(more, 'green.png'), green)
    stage.configure({
      mirrors: [
        { folder: 'pictures', album: 'Photos' },
        { folder: 'more', album: 'More' },
      ],
    })
    daemon.kill('SIGHUP')
    await daemon.told('config_taken')
    expect(await stage.here('sync')).toMatchObject({ code: 0 })
    // `delivered` throws where a picture is there twice.
    const delivered = await stage.delivered()
    expect(Object.keys(delivered)).toHaveLength(31)
    expect(delivered['More/green.png']).toBe(sha256(green))
    expect(await stage.json('status')).toMatchObject({ other_config: false, config_refused: null })
    const warned = async () => (await stage.here('doctor')).out
    expect(await warned()).not.toContain('another config')
    stage.configure({ uploads: { order: 'newest' } })
    expect(await warned()).toMatch(/warn +daemon +albumd runs with another config/)
    expect(await daemon.stop()).toBe(0)
  })

  it('is not named as the remedy of what it can not mend, before that is put back', async () => {
    const { stage, daemon } = await mirroring()
    const before = readFileSync(stage.config)
    mkdirSync(join(stage.home, 'moved'))
    stage.configure({ mirrors: [{ folder: 'moved', album: 'Photos' }] })
    daemon.kill('SIGHUP')
    expect((await daemon.told('trouble')).message).toMatch(/stop a running albumd and say .* state_dir\)$/)
    const { out } = await stage.here('status')
    expect(out).toContain('stop a running albumd and say "albumd move-mirror')
    expect(out).not.toContain('kill -HUP')
    expect((await stage.here('doctor')).out).not.toContain('kill -HUP')
    writeFileSync(stage.config, before)
    expect((await stage.here('status')).out).toContain(
      `Let it read the config again: kill -HUP ${daemon.pid}`,
    )
    stage.configure({ state_dir: 'elsewhere' })
    daemon.kill('SIGHUP')
    await daemon.told('config_refused', 2)
    writeFileSync(stage.config, before)
    expect(await stage.json('status')).toMatchObject({ other_config: false, config_needs_stop: true })
    const mended = (await stage.here('doctor')).out
    expect(mended).toMatch(/^warn +daemon +The new config was refused, .*state_dir can not change/m)
    expect(mended).toContain(`Let it read the config again: kill -HUP ${daemon.pid}`)
    daemon.kill('SIGHUP')
    await daemon.told('config_taken')
    await stage.here('sync')
    expect(await stage.json('status')).toMatchObject({ config_refused: null, config_needs_stop: false })
    // The key is the same, so what the host was asked before is not forgotten.
    expect((await stage.here('doctor', '--all')).out).not.toContain('has not asked the host')
    expect(await daemon.stop()).toBe(0)
  })

  it('with another bandwidth has what was too slow tried again at once', async () => {
    const stage = await setStage()
    const host = { base_url: stage.baseUrl, api_key_file: 'api-key', credential_lifetime: '5s' }
    stage.configure({ host, uploads: { bandwidth: '20kB/s' } })
    stage.write('large.png', png(600, 500).bytes)
    const daemon = startDaemon(stage)
    expect(await daemon.told('picture_failed')).toMatchObject({ code: 'TOO_SLOW' })
    stage.configure({ host })
    daemon.kill('SIGHUP')
    await daemon.told('picture_uploaded')
    expect(await daemon.stop()).toBe(0)
  })

  it('a key that was refused is tried again at once, and so is one whose file changes', async () => {
    const stage = await setStage()
    stage.write('red.png', red)
    const file = join(stage.home, 'api-key')
    const key = readFileSync(file)
    writeFileSync(file, 'wrong-key-abcdef')
    const daemon = await daemonHere(stage)
    await daemon.told('uploads_stopped')
    expect(await stage.here('sync')).toMatchObject({ code: 5 })
    writeFileSync(file, key)
    // The key is looked at when a command comes, and taken once.
    expect(await stage.here('sync')).toMatchObject({ code: 0, err: '' })
    await daemon.told('picture_uploaded')
    expect(daemon.events().filter(({ event }) => event === 'key_taken')).toHaveLength(1)
    writeFileSync(file, key)
    await daemon.told('key_taken', 2)
    expect(await stage.here('sync')).toMatchObject({ code: 0 })
    expect((await stage.status()).blocks).toEqual([])
    rmSync(file)
    // The key from before works.
    expect(await stage.here('sync')).toMatchObject({ code: 0 })
    await daemon.told('key_refused')
    expect(await daemon.told('trouble')).toMatchObject({ code: 'KEY' })
    const why = `host.api_key_file: no such file, and it must hold the API key (${file})`
    expect((await stage.here('status')).out).toContain(`next start fails (${why})\n`)
    writeFileSync(file, key, { mode: 0o600 })
    expect(await stage.here('sync')).toMatchObject({ code: 0 })
    expect(await stage.status()).toMatchObject({ key_refused: null })
    // Nothing is to be done, and the host is asked all the same.
    const blocks = async () => (await stage.status()).blocks
    writeFileSync(file, 'wrong-key-abcdef')
    daemon.kill('SIGHUP')
    await expect.poll(blocks).toMatchObject([{ code: 'INVALID_API_KEY' }])
    expect(await daemon.told('uploads_stopped', 2)).toMatchObject({ code: 'INVALID_API_KEY' })
    writeFileSync(file, key)
    daemon.kill('SIGHUP')
    await expect.poll(blocks).toEqual([])
    expect(await daemon.stop()).toBe(0)
  })

  it('an authority whose file is replaced counts at once, as a key does', async () => {
    const stage = await setStage({ host: { tls: true }, pictures: {} })
    const [, right] = /ca_file: (.+)/.exec(readFileSync(stage.config, 'utf8'))!
    const file = join(stage.home, 'ca.pem')
    const wrong = await generate([{ name: 'commonName', value: 'another authority' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [{ name: 'basicConstraints', cA: true }],
    })
    writeFileSync(file, wrong.cert)
    stage.configure({ host: { base_url: stage.baseUrl, api_key_file: 'api-key', ca_file: 'ca.pem' } })
    stage.write('red.png', red)
    const daemon = await daemonHere(stage)
    expect(await stage.here('sync')).toMatchObject({ code: 3 })
    writeFileSync(file, readFileSync(right!.replaceAll(/['"]/g, '')))
    expect(await stage.here('sync')).toMatchObject({ code: 0 })
    rmSync(file)
    expect(await stage.here('sync')).toMatchObject({ code: 0 })
    expect((await daemon.told('key_refused')).message).toContain(file)
    expect(await daemon.stop()).toBe(0)
  })
})
