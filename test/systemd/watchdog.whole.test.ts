import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../pictures.ts'
import { type Booted, boot, canBoot, seldom } from './booted.ts'
import { installed, inTime, mirrored } from './service-steps.ts'

const red = png(3, 2, 10).bytes
const green = png(3, 2, 20).bytes

// In a file of its own, so that it waits for its watchdog beside the other tests of the service.
describe.skipIf(!canBoot() && !process.env.CI)('service, with a real systemd', () => {
  it('is started again when it is stuck, and left alone when it is idle', inTime, async () => {
    const hooks = [
      'Environment=NODE_OPTIONS=--import=/srv/stage/hang.mjs',
      'WatchdogSec=15',
      'RestartSec=100ms',
    ]
    // An upload that was cut off by a restart is found out soon.
    const booted = await boot(hooks, { host: { credentialTtlMs: 2000 } })
    copyFileSync(join(import.meta.dirname, 'hang.mjs'), join(booted.home, 'hang.mjs'))
    booted.write('red.png', red)
    booted.setUp({ host: { base_url: booted.baseUrl, credential_lifetime: '2s' } })
    await installed(booted)
    await mirrored(booted, 'red.png')

    const started = await seconds(booted, 'ActiveEnterTimestampMonotonic')
    await expect
      .poll(() => seconds(booted, 'WatchdogTimestampMonotonic'), { ...seldom, interval: 2000 })
      .toBeGreaterThan(started + 2 * 15)
    expect(await booted.show('NRestarts', 'ActiveState')).toEqual({ NRestarts: '0', ActiveState: 'active' })

    await booted.done('systemctl', 'kill', '--kill-who=main', '--signal=USR2', 'albumd')
    await expect
      .poll(() => booted.show('NRestarts', 'ActiveState'), seldom)
      .toEqual({ NRestarts: '1', ActiveState: 'active' })

    // Here its event loop goes on: timers and signals work, and nothing gets done.
    const hangs = join(booted.home, 'disk-hangs')
    writeFileSync(hangs, '')
    booted.write('green.png', green)
    await expect.poll(async () => (await booted.show('NRestarts')).NRestarts, seldom).toBe('2')
    rmSync(hangs)
    await mirrored(booted, 'red.png', 'green.png')
  })
})

async function seconds(
  booted: Booted,
  name: 'ActiveEnterTimestampMonotonic' | 'WatchdogTimestampMonotonic',
): Promise<number> {
  return Number((await booted.show(name))[name]) / 1e6
}
