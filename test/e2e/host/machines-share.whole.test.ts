import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { HostOptions } from '../../../src/host/embedded-host.ts'
import { RATE } from '../../../src/shared/rate-script.ts'
import { script } from '../../../src/shared/store.ts'
import { png } from '../../pictures.ts'
import { ageStore, noStore, runAtLast, startStore, storeOf } from '../../shared/real-store.ts'
import { startFaultProxy } from '../stage/fault-proxy.ts'
import { machineIn } from '../stage/machines.ts'
import { oneDay, setStage } from '../stage/stage.ts'

const NAMES = ['attic', 'studio', 'laptop']

type Setting = Awaited<ReturnType<typeof setUp>>

/** Machines with one account, each with so many pictures of its own, and a host that keeps to §8. */
async function setUp(count: number, pictures: number, host: Partial<HostOptions> = {}) {
  const stage = await setStage({ host })
  const proxy = await startFaultProxy(stage.baseUrl)
  const redis = await startStore()
  const machines = NAMES.slice(0, count).map((name, at) => {
    const machine = machineIn(stage, join(stage.home, name), {
      host: { base_url: proxy.baseUrl },
      account: { shared: redis.url, machine: name },
      mirrors: [{ folder: 'pictures', album: name }],
      status_page: { listen: 'off' },
    })
    for (let shade = 0; shade < pictures; shade++)
      writeFileSync(join(machine.pictures, `${shade}.png`), png(2 + at, 2, shade).bytes)
    return machine
  })
  const account = { baseUrl: proxy.baseUrl, key: stage.key }
  await ageStore(redis, account)
  return { stage, proxy, redis, machines, account }
}

const asked = ({ proxy }: Setting) => proxy.log.filter(({ kind }) => kind === 'upload')

describe.skipIf(noStore)('machines that share an account', () => {
  it('go on over the end of one of them, and of the store', async () => {
    const setting = await setUp(3, 50)
    const { stage, redis, machines, account } = setting
    const daemons = machines.map(machine => machine.run())
    await expect.poll(() => asked(setting).length).toBeGreaterThan(30)
    daemons[0]!.kill('SIGKILL')
    await daemons[0]!.ended
    const { status, albumd } = machines[1]!
    await expect
      .poll(async () => (await status()).machines)
      .toMatchObject(NAMES.toSorted().map(name => ({ name, albums: [name], is_this: name === 'studio' })))
    expect((await status()).store).toEqual({ away: null })
    await redis.kill()
    await expect.poll(async () => (await status()).store.away?.message).toContain('Cannot reach')
    expect((await albumd('status')).out).toMatch(/^store {3}.* is away /m)
    expect((await albumd('doctor')).out).toMatch(/warn +store .*account\.shared.*Cannot reach 127\.0\.0\.1/)
    const before = asked(setting).length
    // On a busy machine all others may have been sent while the commands above were answered.
    for (let n = 0; n < 5; n++)
      writeFileSync(join(machines[1]!.pictures, `more-${n}.png`), png(9, 2, n).bytes)
    await expect.poll(() => asked(setting).length).toBeGreaterThan(before + 4)
    await redis.start()
    await ageStore(redis, account)
    machines[0]!.run()
    // At most `concurrency` uploads of the machine that was killed are in doubt.
    await expect.poll(async () => (await stage.paths()).length).toBeGreaterThan(141)
  })
})

describe.skipIf(noStore)('a command that asks the host by itself', () => {
  it.each([['doctor'], ['restore', 'back', '--from-host']])(
    '%s keeps to the rate that machines share, and is no machine',
    async (...command) => {
      const setting = await setUp(1, 0)
      const { proxy, redis, machines, account } = setting
      const store = storeOf(redis.url, account)
      const keys = ['places', 'pending', 'line', 'polls', 'facts'].map(name => `${name}:list`)
      const listed: number[] = []
      proxy.onSeen = ({ kind }) => void (kind === 'list' && listed.push(Date.now()))
      // The host has told another machine that all must wait, for longer than a machine waits for a store that is away.
      const until = Date.now() + 9000
      await runAtLast(store, RATE, [...keys, 'rate', 'machines'], ['other', '', 10, '', 0, '9000'])
      await machines[0]!.albumd(...command)
      expect(listed.length).toBeGreaterThan(0)
      expect(Math.min(...listed)).toBeGreaterThanOrEqual(until)
      const told = script("return redis.call('EXISTS', KEYS[1])")
      expect(await runAtLast(store, told, ['machines'], [])).toBe(0)
      await store.close()
    },
  )
})

describe.skipIf(noStore)('the quota of machines that share an account', () => {
  it('is used up for all of them at once', async () => {
    await oneDay()
    const quota = 60
    const setting = await setUp(2, 50, { dailyQuota: quota })
    const { machines } = setting
    const daemons = machines.map(machine => machine.run())
    for (const machine of machines)
      await expect.poll(async () => (await machine.status()).quota.exhausted).toBe(true)
    const granted = asked(setting).filter(({ answer }) => answer?.status === 200)
    expect(granted).toHaveLength(quota)
    expect(
      asked(setting).filter(({ answer }) => answer?.body.includes('DAILY_LIMIT_REACHED')).length,
    ).toBeLessThanOrEqual(8)
    for (const daemon of daemons) daemon.kill('SIGTERM')
    for (const daemon of daemons) expect(await daemon.ended).toMatchObject({ code: 0 })
  })
})
