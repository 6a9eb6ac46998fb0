import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { passUntilDone } from '../stage/fault-stage.ts'
import { daemonHere, startDaemon } from '../stage/process.ts'
import { setStage, sha256 } from '../stage/stage.ts'

const red = png(3, 2, 10).bytes
const green = png(3, 2, 20).bytes

describe('run', () => {
  it('mirrors what is there and what is dropped in, and ends on SIGTERM with nothing left in doubt', async () => {
    const stage = await setStage()
    stage.write('red.png', red)
    const daemon = startDaemon(stage)
    await daemon.told('picture_uploaded')
    stage.write('a/green.png', green)
    await daemon.told('picture_uploaded', 2)
    expect(await daemon.stop()).toBe(0)
    expect(daemon.events().at(-1)).toMatchObject({ event: 'stopped' })
    expect(daemon.err()).toBe('')
    expect(daemon.out()).not.toContain(stage.key)
    expect(await stage.delivered()).toEqual({
      'Photos/red.png': sha256(red),
      'Photos/a/green.png': sha256(green),
    })
    // It may have ended while it compared a file that was fresh: the next pass does that, and sends nothing.
    const sync = await stage.here('sync')
    expect(sync).toMatchObject({ code: 0 })
    expect(sync.out).not.toContain('uploaded')
    expect(await stage.json('status')).toMatchObject({
      running: false,
      pid: null,
      mirrors: [{ state: 'idle', synced: 2, uncertain: 0, pending_uploads: 0 }],
    })
  })

  it('tries a refused key when it starts again, and has it for refused until the host takes it', async () => {
    const stage = await setStage({ pictures: { 'red.png': red } })
    await stage.restartHost({ apiKeys: ['another-key-of-the-account'] })
    stage.write('sent.png', green)
    expect(await stage.pass()).toMatchObject({ exit_code: 5 })
    rmSync(join(stage.pictures, 'sent.png'))
    const blocks = async () => (await stage.status()).blocks
    const [before] = await blocks()
    const daemon = await daemonHere(stage)
    // There is nothing to send.
    await expect
      .poll(blocks)
      .toMatchObject([
        { code: 'INVALID_API_KEY', since: before.since, said_at: expect.not.stringMatching(before.said_at) },
      ])
    await stage.restartHost({})
    daemon.kill('SIGHUP')
    await expect.poll(blocks).toEqual([])
    expect(await daemon.stop()).toBe(0)
  })

  it('is alone with its state, and status shows it', async () => {
    const stage = await setStage()
    stage.write('red.png', red)
    const daemon = await daemonHere(stage)
    await daemon.told('picture_uploaded')
    expect(await stage.json('status')).toMatchObject({ running: true, pid: daemon.pid })
    const second = await stage.albumd('run')
    expect(second.code).toBe(4)
    expect(second.err.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(second.out)).toMatchObject({ level: 50, event: 'failed', code: 'LOCKED' })
    expect(await daemon.stop()).toBe(0)
  })

  it('logs a config that is wrong as a failure, too', async () => {
    const stage = await setStage()
    stage.configure({ mirrors: [{ folder: 'pictures', albums: 'Photos' }] })
    const { code, out, err } = await stage.here('run')
    expect(code).toBe(2)
    expect(err).toContain('mirrors[0].album')
    expect(JSON.parse(out)).toMatchObject({ level: 50, event: 'failed', code: 'CONFIG' })
  })

  it('in the middle of a backlog sends a new picture first, and what SIGTERM leaves is sent once', async () => {
    const stage = await setStage()
    const pace = { requests_per_second: { upload: 4 } }
    stage.configure({ host: { base_url: stage.baseUrl, api_key_file: 'api-key', ...pace } })
    const backlog = Array.from({ length: 60 }, (_, n) => `${n}.png`)
    for (const [n, name] of backlog.entries()) stage.write(name, png(2 + n, 2).bytes)
    const daemon = await daemonHere(stage)
    await daemon.told('picture_uploaded', 2)
    stage.write('later/new.png', red)
    const uploaded = () => daemon.paths('picture_uploaded')
    await expect.poll(uploaded).toContain('later/new.png')
    expect(uploaded().indexOf('later/new.png')).toBeLessThan(backlog.length)
    expect(await daemon.stop()).toBe(0)
    expect((await stage.status()).mirrors[0]).toMatchObject({ failed: 0 })
    stage.configure({})
    // On a busy machine the end may have cut uploads off: what became of them is found out first.
    await passUntilDone(stage)
    // `delivered` throws where a picture is there twice.
    expect(Object.keys(await stage.delivered())).toHaveLength(backlog.length + 1)
  })

  it('says in the log what it warns of before the log is open, and when it reads the key again', async () => {
    const stage = await setStage()
    const key = join(stage.home, 'api-key')
    chmodSync(key, 0o644)
    const daemon = await daemonHere(stage)
    const warns = {
      msg: expect.stringContaining('Other users of this machine can read the key. Keep the file'),
    }
    expect(daemon.events()[0]).toMatchObject({ event: 'warning', ...warns })
    daemon.kill('SIGHUP')
    await daemon.told('config_taken')
    expect(await daemon.told('warning', 2)).toMatchObject(warns)
    expect(daemon.err()).toBe('')
    expect(await daemon.stop()).toBe(0)
  })

  it('logs as much as --log-level says, whatever the config says', async () => {
    const stage = await setStage({ config: { log: { level: 'error' } } })
    mkdirSync(join(stage.pictures, 'a'))
    const daemon = await daemonHere(stage, ['--log-level', 'debug'])
    await daemon.told('scan_started')
    expect(await daemon.stop()).toBe(0)
  })
})
