import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { daemonHere } from '../stage/process.ts'
import { type Stage, setStage, sha256 } from '../stage/stage.ts'

const red = png(3, 2, 10).bytes
const green = png(3, 2, 20).bytes

describe('pause', () => {
  it('lets the daemon look but not send or delete, over a restart, until resume', async () => {
    const stage = await setStage({ config: { deletions: { grace: '0' } } })
    stage.write('red.png', red)
    const first = await daemonHere(stage)
    await first.told('picture_uploaded')
    const before = await stage.listing()
    expect(await stage.albumd('pause')).toMatchObject({ code: 0, out: expect.stringMatching(/^paused, so /) })
    expect(await first.stop()).toBe(0)

    rmSync(join(stage.pictures, 'red.png'))
    stage.write('green.png', green)
    const daemon = await daemonHere(stage)
    await daemon.told('scan_finished')
    await expect
      .poll(() => mirror(stage), { interval: 1000 })
      .toMatchObject({
        state: 'paused',
        reason: expect.stringContaining('albumd resume'),
        pending_uploads: 1,
        pending_deletions: 1,
      })
    const { code, out } = await stage.here('sync')
    expect(code).toBe(3)
    expect(out.trimEnd().split('\n')).toEqual([
      'paused, so nothing is sent or deleted; "albumd resume" ends it',
      'nothing done; left: 1 to upload, 1 to delete ("albumd deletions list" says what each waits for). "albumd status" tells more',
    ])
    expect(await stage.listing()).toEqual(before)

    expect(await stage.albumd('resume')).toMatchObject({ code: 0 })
    await daemon.told('image_deleted')
    expect(await stage.delivered()).toEqual({ 'Photos/green.png': sha256(green) })
    expect(await daemon.stop()).toBe(0)
  })

  it('holds without a daemon, and with --for it ends by itself', async () => {
    const stage = await setStage()
    stage.write('red.png', red)
    expect(await stage.json('pause', '--for', '1h')).toEqual({
      schema: 1,
      paused: true,
      until: expect.any(String),
    })
    expect(await stage.status()).toMatchObject({ paused: { until: expect.any(String) } })
    expect(await stage.here('sync')).toMatchObject({ code: 3 })
    expect(await stage.listing()).toEqual([])
    // It is over before the next command can look.
    expect(await stage.here('pause', '--for', '1ms')).toMatchObject({ code: 0 })
    expect(await stage.here('sync')).toMatchObject({ code: 0 })
    expect(await stage.json('resume')).toEqual({ schema: 1, paused: false, was_paused: false })
    expect(await stage.listing()).toHaveLength(1)
  })

  it('leaves a failure as it is, also when retry or adopt is asked for meanwhile', async () => {
    const stage = await setStage()
    stage.write('no.png', 'this is no picture')
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    await stage.here('pause')
    const { failures } = await stage.status()
    expect(failures).toMatchObject([{ path: 'no.png', code: 'NOT_A_PICTURE' }])
    for (const command of [['retry'], ['retry', 'no.png'], ['adopt']]) {
      const { code, out } = await stage.here(...command)
      expect(code).toBe(3)
      expect(out).toContain('nothing done; left: 1 failed')
      expect((await stage.status()).failures).toEqual(failures)
    }
  })

  it('wakes the daemon when it ends', async () => {
    const stage = await setStage()
    const daemon = await daemonHere(stage)
    await daemon.told('scan_finished')
    const { until } = await stage.json('pause', '--for', '5s')
    stage.write('red.png', red)
    const { time } = await daemon.told('picture_uploaded')
    expect(Date.parse(String(time))).toBeGreaterThanOrEqual(Date.parse(until))
    expect(await daemon.stop()).toBe(0)
  })

  it('is told by --help, and refuses what is no duration', async () => {
    const stage = await setStage()
    expect((await stage.albumd('pause', '--help')).out).toContain('albumd pause --for 2h')
    const { code, err } = await stage.here('pause', '--for', 'long')
    expect(code).toBe(2)
    expect(err.trimEnd().split('\n')).toEqual([expect.stringContaining('90s, 10m or 1h30m')])
  })
})

async function mirror(stage: Stage) {
  return (await stage.status()).mirrors[0]
}
