import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  ended,
  endedInSync,
  expectInSync,
  localTree,
  oneLine,
  says,
  stageOf,
  syncUntilDone,
  uploaded,
  within,
  writePictures,
} from '../stage/fault-stage.ts'
import { type Process, stageThrough, startAlbumd } from '../stage/process.ts'
import { canMount, mountSmallDisk } from './small-disk.ts'

/** How often it warned of this. What lasts more than some seconds is also told as `trouble`, when a person is called. */
const warned = (process: Process, what: string) =>
  process
    .out()
    .split('\n')
    .filter(line => line.includes('"event":"warning"') && line.includes(what)).length

describe.skipIf(!canMount() && !process.env.CI)('a state whose disk is full', () => {
  async function onSmallDisk(pictures: number) {
    const plain = await stageOf(pictures)
    const disk = await mountSmallDisk(join(plain.home, 'state'), '8m')
    return { disk, stage: stageThrough(plain, disk) }
  }

  it('ends a sync with what to do, and the next one goes on once there is room', async () => {
    const { disk, stage } = await onSmallDisk(30)
    const sync = startAlbumd(stage, ['sync'], disk)
    await uploaded(sync, 3)
    disk.fill()
    expect(await sync.ended).toMatchObject({ code: 1 })
    oneLine(sync.err(), /state\/albumd\.db: No room on the disk of the state\. Make room there/)
    expect(await stage.sync()).toMatchObject({ code: 1 })
    disk.free()
    for (const { err } of await syncUntilDone(stage)) expect(err).not.toContain('restored')
    await expectInSync(stage)
  })

  it('ends a sync that has nothing yet the same way', async () => {
    const { disk, stage } = await onSmallDisk(2)
    disk.fill()
    const { code, err } = await stage.sync()
    expect(code).toBe(1)
    oneLine(err, /No room on the disk/)
    expect(await stage.listing()).toEqual([])
    disk.free()
    await syncUntilDone(stage)
    await expectInSync(stage)
  })

  it('lets the daemon wait, say it once, and go on by itself', async () => {
    const { disk, stage } = await onSmallDisk(30)
    const daemon = startAlbumd(stage, ['run'], disk)
    await uploaded(daemon, 3)
    disk.fill()
    await says(daemon, /No room on the disk/)
    writePictures(stage, 30, 33)
    expect(await stage.status()).toMatchObject({
      running: true,
      pid: expect.any(Number),
      mirrors: [{ state: 'blocked', reason: expect.stringContaining('No room on the disk') }],
    })
    disk.free()
    await says(daemon, /albumd works again/)
    // Good news is no warning.
    expect(daemon.out()).toMatch(/"level":30.*"event":"albumd_works_again"/)
    // The bound is on each further picture: a busy machine takes longer for all of them.
    const there = async () => (await stage.listing()).length
    for (let before = await there(); before < 33; before = await there())
      await expect.poll(there, within).toBeGreaterThan(before)
    await expect.poll(() => stage.delivered(), within).toEqual(localTree(stage))
    expect((await stage.status()).mirrors).toMatchObject([{ reason: null }])
    expect(warned(daemon, 'No room on the disk')).toBe(1)
    await endedInSync(daemon, stage)
  })

  it('does not keep the daemon from starting: it begins once there is room', async () => {
    const { disk, stage } = await onSmallDisk(2)
    disk.fill()
    const daemon = startAlbumd(stage, ['run'], disk)
    await says(daemon, /No room on the disk/)
    // The disk has no room for this, so the daemon is asked.
    expect(await stage.status()).toMatchObject({
      running: true,
      pid: expect.any(Number),
      mirrors: [{ state: 'blocked', reason: expect.stringContaining('No room on the disk') }],
    })
    expect(await stage.listing()).toEqual([])
    expect((await stage.sync()).err).toContain('No room on the disk')
    disk.free()
    // A command does not wait for the daemon's next try, nor does it tell of what is over.
    expect(await stage.sync()).toMatchObject({ code: 0, err: '' })
    expect(await stage.delivered()).toEqual(localTree(stage))
    await endedInSync(daemon, stage)
  })

  it('lets the daemon end while it waits', async () => {
    const { disk, stage } = await onSmallDisk(2)
    disk.fill()
    const daemon = startAlbumd(stage, ['run'], disk)
    await says(daemon, /No room on the disk/)
    await ended(daemon)
  })
})
