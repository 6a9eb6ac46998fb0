import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { script } from '../../../src/shared/store.ts'
import { png } from '../../pictures.ts'
import { ageStore, noStore, runAtLast, startStore, storeOf } from '../../shared/real-store.ts'
import { machineIn } from '../stage/machines.ts'
import { startAlbumd } from '../stage/process.ts'
import { QUICK, setStage } from '../stage/stage.ts'

type Setting = Awaited<ReturnType<typeof setUp>>

/** One account, one store, and machines with this album each. */
async function setUp(...albums: string[]) {
  const stage = await setStage()
  const redis = await startStore()
  await ageStore(redis, stage)
  const machines = albums.map((album, at) => {
    const machine = machineIn(stage, join(stage.home, `machine-${at}`), {
      host: { requests_per_second: QUICK },
      account: { shared: redis.url, machine: ['studio', 'laptop'][at] },
      mirrors: [{ folder: 'pictures', album }],
    })
    return {
      ...machine,
      write: (path: string, bytes: Uint8Array) => writeFileSync(join(machine.pictures, path), bytes),
      remove: (path: string) => rmSync(join(machine.pictures, path)),
    }
  })
  return { stage, redis, machines }
}

type Machine = Setting['machines'][number]

describe.skipIf(noStore)('two machines with one account', () => {
  it('have one album between them: the second ends with exit code 4 and says what to do', async () => {
    const { stage, redis, machines } = await setUp('Photos', 'Photos/2024')
    const [one, two] = machines as [Machine, Machine]
    one.write('a.png', png(3, 2).bytes)
    two.write('b.png', png(4, 2).bytes)
    expect(await one.albumd('sync')).toMatchObject({ code: 0 })
    // What the first machine had used when its sync ended.
    expect((await one.status()).machines).toMatchObject([
      { name: 'studio', albums: ['Photos'], used_today: 1, is_this: true, state: 'ended' },
    ])
    // A command that sends nothing tells the others the same number.
    expect(await one.albumd('trust', '--take-album')).toMatchObject({ code: 0 })
    const store = storeOf(redis.url, stage)
    const told = await runAtLast(store, script(`return redis.call('HVALS', KEYS[1])[1]`), ['machines'], [])
    await store.close()
    expect(told).toContain('"usedToday":1')
    const refused = await two.albumd('sync')
    expect(refused.code).toBe(4)
    expect(refused.err.trim()).toMatch(
      /^albumd: Album "Photos" belongs to the machine studio, last seen .*"albumd trust --take-album" when studio is gone for good$/,
    )
    const daemon = two.run()
    expect(await daemon.ended).toMatchObject({ code: 4 })
    expect(daemon.err()).toContain('belongs to the machine studio')
    expect(await two.status()).toMatchObject({
      waits_for: { code: 'LOCKED' },
      mirrors: [{ state: 'blocked', reason: expect.stringContaining('belongs to the machine studio') }],
    })
    expect(await stage.paths()).toEqual(['Photos/a.png'])
  })

  it('have an album taken over only while its machine does not work', async () => {
    const { stage, machines } = await setUp('Photos', 'Photos')
    const [one, two] = machines as [Machine, Machine]
    one.write('a.png', png(3, 2).bytes)
    two.write('b.png', png(4, 2).bytes)
    const daemon = one.run()
    await expect.poll(() => stage.paths()).toEqual(['Photos/a.png'])
    const early = await two.albumd('trust', '--take-album')
    expect(early).toMatchObject({ code: 4 })
    expect(early.err).toMatch(
      /worked within the last half minute.*"albumd trust --take-album" half a minute later/,
    )
    daemon.kill('SIGTERM')
    expect(await daemon.ended).toMatchObject({ code: 0 })
    expect(await two.albumd('trust', '--take-album')).toMatchObject({
      code: 0,
      out: 'the album "Photos" is this machine\'s from now on\n',
    })
    expect(await two.albumd('sync')).toMatchObject({ code: 0 })
    expect(await stage.paths()).toEqual(['Photos/a.png', 'Photos/b.png'])
    const late = await one.albumd('sync')
    expect(late).toMatchObject({ code: 4 })
    expect(late.err).toContain('belongs to the machine laptop')
    const status = await two.status()
    expect(status).toMatchObject({ waits_for: null, mirrors: [{ state: 'idle' }] })
    // What the records of the first machine say is older than the work of the second one.
    one.write('c.png', png(5, 2).bytes)
    expect(await one.albumd('trust', '--take-album')).toMatchObject({ code: 0 })
    const again = await one.albumd('sync')
    expect(again).toMatchObject({ code: 0 })
    expect(again.out).toContain('to compare or send')
  })

  it('wait for claims at a new store, which is no failure', async () => {
    const { redis, machines } = await setUp('Photos')
    const [one] = machines as [Machine]
    await redis.kill()
    await redis.start()
    const daemon = one.run()
    await expect
      .poll(async () => (await one.albumd('doctor')).out)
      .toMatch(/warn +daemon +the shared store is new/)
    expect((await one.albumd('doctor')).out).not.toMatch(/^fail/m)
    daemon.kill('SIGTERM')
    expect(await daemon.ended).toMatchObject({ code: 0 })
  })

  it('make one album where both need the same album', async () => {
    const { stage, machines } = await setUp('Family/Ann', 'Family/Ben')
    for (const machine of machines) machine.write('a.png', png(3, 2).bytes)
    const runs = machines.map(machine => startAlbumd(machine, ['sync']))
    for (const run of runs) expect(await run.ended).toMatchObject({ code: 0 })
    expect(await stage.albums()).toEqual(['Family', 'Family/Ann', 'Family/Ben'])
  })

  it('upload without the store what was theirs before, and delete once it answers again', async () => {
    const { stage, redis, machines } = await setUp('Photos', 'Scans')
    const [one, two] = machines as [Machine, Machine]
    one.write('a.png', png(3, 2).bytes)
    expect(await one.albumd('sync')).toMatchObject({ code: 0 })
    await redis.kill()
    one.write('b.png', png(4, 2).bytes)
    one.remove('a.png')
    expect(await one.albumd('sync')).toMatchObject({ code: 3 })
    expect(await stage.paths()).toEqual(['Photos/a.png', 'Photos/b.png'])
    const refused = await two.albumd('sync')
    expect(refused).toMatchObject({ code: 3 })
    expect(refused.err).toMatch(/whether another machine has .*: Cannot reach 127\.0\.0\.1:\d+\. Check/)
    await redis.start()
    // The store is new, so other machines may have claims that it has lost.
    expect(await one.albumd('sync')).toMatchObject({ code: 3 })
    await ageStore(redis, stage)
    expect(await one.albumd('sync')).toMatchObject({ code: 0 })
    expect(await stage.paths()).toEqual(['Photos/b.png'])
  })
})
