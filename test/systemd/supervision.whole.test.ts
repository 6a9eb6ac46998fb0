import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../pictures.ts'
import { type Booted, boot, canBoot, seldom } from './booted.ts'
import { installed, inTime, mirrored } from './service-steps.ts'

const red = png(3, 2, 10).bytes
/** So slow that one with 800 dots a line is a quarter of a minute on the way. */
const slowly = { uploads: { bandwidth: '40KB/s' } }

describe.skipIf(!canBoot() && !process.env.CI)('service, with a real systemd', () => {
  it('reloads, comes back after SIGKILL, and stops within 5 s, its work journaled', inTime, async () => {
    // What was on its way when albumd was killed is found out once its credential has ended.
    const booted = await boot(['RestartSec=100ms'], { host: { credentialTtlMs: 30_000 } })
    const host = { base_url: booted.baseUrl, credential_lifetime: '30s' }
    booted.write('red.png', red)
    booted.setUp({ host, ...slowly })
    await installed(booted)
    await mirrored(booted, 'red.png')

    // What is under way comes to its end first: systemd sees the reload last.
    await underWay(booted, 'large.png', 700)
    booted.setUp({ host, ...slowly, log: { level: 'debug', format: 'json' } })
    await booted.done('systemctl', 'reload', '--no-block', 'albumd')
    await expect.poll(async () => (await booted.show('ActiveState')).ActiveState, seldom).toBe('reloading')
    // Between the signal and the daemon's word on it systemd may take the reload for done.
    await expect.poll(() => booted.log().map(({ event }) => event), seldom).toContain('config_taken')
    await expect.poll(async () => (await booted.show('ActiveState')).ActiveState, seldom).toBe('active')
    expect(await booted.show('NRestarts', 'Result')).toEqual({ NRestarts: '0', Result: 'success' })
    await mirrored(booted, 'red.png', 'large.png')

    await underWay(booted, 'larger.png', 701)
    const { MainPID: before } = await booted.show('MainPID')
    await booted.done('systemctl', 'kill', '--kill-who=main', '--signal=KILL', 'albumd')
    await expect
      .poll(() => booted.show('NRestarts', 'ActiveState'), seldom)
      .toEqual({ NRestarts: '1', ActiveState: 'active' })
    expect((await booted.show('MainPID')).MainPID).not.toBe(before)
    await mirrored(booted, 'red.png', 'large.png', 'larger.png')

    await underWay(booted, 'last.png', 702)
    await booted.done('systemctl', 'stop', 'albumd')
    expect(await booted.show('ActiveState', 'Result', 'ExecMainStatus')).toEqual({
      ActiveState: 'inactive',
      Result: 'success',
      ExecMainStatus: '0',
    })
    const told = (event: string) => Date.parse(booted.log().findLast(line => line.event === event)!.time)
    expect(told('stopped') - told('stopping')).toBeLessThan(5000)
    const sentBefore = Object.keys(await booted.delivered())
    expect(sentBefore).not.toContain('Photos/last.png')
    booted.setUp({ host })
    await booted.done('systemctl', 'start', 'albumd')
    // Each once.
    await mirrored(booted, 'red.png', 'large.png', 'larger.png', 'last.png')
  })

  it('is not started again where only a person can help', inTime, async () => {
    const booted = await boot(['RestartSec=100ms'])
    booted.setUp()
    await installed(booted)
    booted.setUp({ mirors: [] })
    expect((await booted.inside('systemctl', 'restart', 'albumd')).code).not.toBe(0)
    expect(await booted.show('ActiveState', 'ExecMainStatus', 'NRestarts')).toEqual({
      ActiveState: 'failed',
      ExecMainStatus: '2',
      NRestarts: '0',
    })
    expect(booted.err()).toContain('mirrors')
    expect((await booted.service('status')).code).toBe(3)
    booted.setUp()
    rmSync(booted.at('/etc/albumd/api-key'))
    expect((await booted.inside('systemctl', 'restart', 'albumd')).code).not.toBe(0)
    expect(await booted.show('ActiveState', 'ExecMainStatus', 'NRestarts')).toEqual({
      ActiveState: 'failed',
      ExecMainStatus: '2',
      NRestarts: '0',
    })
    expect(booted.err()).toContain('systemd credential "api-key": is empty')
  })
})

/** Adds a large picture, and waits until it is being sent; a small one that is looked at once more may be beside it. */
async function underWay(booted: Booted, name: string, height: number): Promise<void> {
  const { bytes } = png(800, height)
  const begun = () =>
    booted
      .log()
      .filter(emitted => emitted.event === 'uploads_started' && Number(emitted.bytes) >= bytes.byteLength)
      .length
  const before = begun()
  // At once whole: a scan that met half of the file would tell of fewer bytes.
  booted.write(`.${name}`, bytes)
  renameSync(join(booted.pictures, `.${name}`), join(booted.pictures, name))
  await expect.poll(begun, seldom).toBeGreaterThan(before)
}
