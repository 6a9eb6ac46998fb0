import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { keyPrefix } from '../../../src/shared/store.ts'
import { png } from '../../pictures.ts'
import { ageStore, noStore, startStore } from '../../shared/real-store.ts'
import { type Machine, machineIn } from '../stage/machines.ts'
import { QUICK, type Stage, setStage } from '../stage/stage.ts'

/** The settings of a machine, whose pictures are mirrored into the one album that all of them have. */
const named = (machine: string, account: object) => ({
  host: { requests_per_second: QUICK },
  account: { machine, ...account },
  mirrors: [{ folder: 'pictures', album: 'Photos' }],
  deletions: { grace: '0s', grace_many: '0s' },
})

function machineNamed(stage: Stage, home: string, name: string, shared: string): Machine {
  return machineIn(stage, home, named(name, { shared }))
}

const fill = ({ pictures }: Machine, ...names: string[]) => {
  for (const [at, name] of names.entries()) writeFileSync(join(pictures, name), png(3 + at, 2).bytes)
}
const drop = ({ pictures }: Machine, name: string) => rmSync(join(pictures, name))

/** One machine that has the album and five pictures in it, at work, and another. */
async function setUp() {
  const stage = await setStage()
  const redis = await startStore()
  await ageStore(redis, stage)
  const [one, two] = ['studio', 'laptop'].map(name =>
    machineNamed(stage, join(stage.home, name), name, redis.url),
  ) as [Machine, Machine]
  fill(one, 'a.png', 'b.png', 'c.png', 'd.png', 'e.png')
  const daemon = one.run()
  await expect.poll(() => stage.paths()).toHaveLength(5)
  return { stage, redis, one, two, daemon }
}

const TAKE = ['trust', '--take-album']

describe.skipIf(noStore)('the store of several machines', () => {
  it('that is put back to an older copy gives no album back to the machine that slept', async () => {
    const { stage, redis, one, two, daemon } = await setUp()
    await redis.copy()
    daemon.kill('SIGSTOP')
    await expect.poll(async () => (await two.albumd(...TAKE)).code).toBe(0)
    fill(two, 'a.png', 'b.png', 'c.png', 'd.png', 'e.png', 'f.png')
    const other = two.run()
    await expect.poll(async () => (await two.status()).mirrors[0]).toMatchObject({ synced: 1, linked: 5 })
    drop(one, 'a.png')
    await redis.kill()
    await redis.putBack()
    daemon.kill('SIGCONT')
    expect(await daemon.ended).toMatchObject({ code: 4 })
    expect(daemon.err()).toContain('belongs to the machine laptop')
    expect(await stage.paths()).toHaveLength(6)
    drop(two, 'f.png')
    await expect.poll(() => stage.paths()).toHaveLength(5)
    expect(await stage.paths()).toContain('Photos/a.png')
    other.kill('SIGTERM')
    expect(await other.ended).toMatchObject({ code: 0 })
  })

  it.each([
    ['all it has', ['FLUSHALL']],
    ['the claims', ['DEL', 'claims']],
  ])('that loses %s gives no album of a machine that works to another', async (_, words) => {
    const { stage, redis, one, two, daemon } = await setUp()
    const [command, ...keys] = words
    await redis.say(command!, ...keys.map(key => keyPrefix(stage.baseUrl, stage.key) + key))
    expect(await two.albumd(...TAKE)).toMatchObject({ code: 4 })
    drop(one, 'a.png')
    await expect.poll(() => stage.paths()).toHaveLength(4)
    daemon.kill('SIGTERM')
    expect(await daemon.ended).toMatchObject({ code: 0 })
  })

  it('keeps a copy of a machine waiting while the machine works, and gives a killed one its own back', async () => {
    const { stage, redis, one, daemon } = await setUp()
    const home = join(stage.home, 'copy')
    execFileSync('cp', ['-a', one.home, home])
    const copy = machineNamed(stage, home, 'studio', redis.url)
    expect(
      await copy.albumd('move-mirror', join(one.home, 'pictures'), join(home, 'pictures')),
    ).toMatchObject({ code: 0 })
    drop(copy, 'a.png')
    const copied = copy.run()
    const waits = async () => (await copy.status()).waits_for
    await expect.poll(waits).toMatchObject({ code: 'STATE_COPIED' })
    await expect
      .poll(waits)
      .toMatchObject({ code: 'STATE_COPIED', message: expect.stringContaining('works with a copy') })
    expect(await stage.paths()).toHaveLength(5)
    expect(await copy.albumd('status')).toMatchObject({ out: expect.stringContaining('works with a copy') })
    drop(one, 'b.png')
    await expect.poll(() => stage.paths()).toHaveLength(4)
    copied.kill('SIGTERM')
    await copied.ended
    daemon.kill('SIGKILL')
    await daemon.ended
    drop(one, 'c.png')
    const again = one.run()
    await expect.poll(async () => (await one.status()).waits_for).toMatchObject({ code: 'STATE_COPIED' })
    await expect.poll(() => stage.paths()).toHaveLength(3)
    expect(await stage.paths()).toContain('Photos/a.png')
    again.kill('SIGTERM')
    expect(await again.ended).toMatchObject({ code: 0 })
  })

  it('may have a wrong address and a wrong password at the first start', async () => {
    const stage = await setStage()
    const redis = await startStore()
    const one = machineNamed(stage, join(stage.home, 'studio'), 'studio', 'redis://127.0.0.1:1')
    fill(one, 'a.png')
    const daemon = one.run()
    const waits = async () => (await one.status()).waits_for
    await expect
      .poll(waits)
      .toMatchObject({ code: 'STORE_AWAY', message: expect.stringContaining('Cannot reach 127.0.0.1:1.') })
    await redis.say('CONFIG', 'SET', 'requirepass', 'right')
    const shared_password_file = join(one.home, 'password')
    writeFileSync(shared_password_file, 'wrong', { mode: 0o600 })
    one.configure(named('studio', { shared: redis.url, shared_password_file }))
    daemon.kill('SIGHUP')
    await expect
      .poll(waits)
      .toMatchObject({ code: 'STORE_AWAY', message: expect.stringContaining('WRONGPASS') })
    expect(daemon.err() + daemon.out()).not.toContain('config_refused')
    await sleep(1000)
    writeFileSync(shared_password_file, 'right', { mode: 0o600 })
    await expect.poll(() => stage.paths()).toEqual(['Photos/a.png'])
    daemon.kill('SIGTERM')
    expect(await daemon.ended).toMatchObject({ code: 0 })
  })
})
