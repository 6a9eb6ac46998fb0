import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  ended,
  expectInSync,
  localTree,
  oneLine,
  passUntilDone,
  SOON,
  says,
  stageOf,
  uploaded,
  writePictures,
} from '../stage/fault-stage.ts'
import { type Process, stageThrough, startAlbumd } from '../stage/process.ts'
import type { Stage } from '../stage/stage.ts'
import { bindReadOnly, canMount, mountSmallDisk } from './small-disk.ts'

/** How often it warned of this. What lasts more than some seconds is also told as `trouble`, when a person is called. */
const warned = (process: Process, what: string) =>
  process
    .out()
    .split('\n')
    .filter(line => line.includes('"event":"warning"') && line.includes(what)).length

/** A sync that works again, whether it leaves something to the next or not. Answers what it says. */
async function goesOn(stage: Stage): Promise<string> {
  const { code, err } = await stage.sync()
  expect([0, 3], err).toContain(code)
  return err
}

describe.skipIf(!canMount() && !process.env.CI)('a state whose disk is full', () => {
  async function onSmallDisk(pictures: number, life?: typeof SOON) {
    const plain = await stageOf(pictures, life)
    const disk = await mountSmallDisk(join(plain.home, 'state'), '8m')
    /** Lets passes of this process finish, with what is on the disk now. */
    async function finish() {
      disk.copyDown()
      await passUntilDone(plain)
      await expectInSync(plain)
    }
    return { disk, stage: stageThrough(plain, disk), finish }
  }

  it('ends a sync with what to do, and the next one goes on once there is room', async () => {
    const { disk, stage, finish } = await onSmallDisk(30)
    const sync = startAlbumd(stage, ['sync'], disk)
    await uploaded(sync, 3)
    disk.fill()
    expect(await sync.ended).toMatchObject({ code: 1 })
    oneLine(sync.err(), /state\/albumd\.db: No room on the disk of the state\. Make room there/)
    expect(await stage.sync()).toMatchObject({ code: 1 })
    disk.free()
    expect(await goesOn(stage)).not.toContain('restored')
    await finish()
  })

  it('ends a sync that has nothing yet the same way', async () => {
    const { disk, stage, finish } = await onSmallDisk(2)
    disk.fill()
    const { code, err } = await stage.sync()
    expect(code).toBe(1)
    oneLine(err, /No room on the disk/)
    expect(await stage.listing()).toEqual([])
    disk.free()
    await goesOn(stage)
    await finish()
  })

  it('lets the daemon wait, say it once, and go on by itself', async () => {
    const { disk, stage, finish } = await onSmallDisk(30, SOON)
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
      await expect.poll(there).toBeGreaterThan(before)
    await expect.poll(() => stage.delivered()).toEqual(localTree(stage))
    expect((await stage.status()).mirrors).toMatchObject([{ reason: null }])
    expect(warned(daemon, 'No room on the disk')).toBe(1)
    await ended(daemon)
    await finish()
  })

  it('does not keep the daemon from starting: it begins once there is room', async () => {
    const { disk, stage, finish } = await onSmallDisk(2, SOON)
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
    await ended(daemon)
    await finish()
  })

  it('lets the daemon end while it waits', async () => {
    const { disk, stage } = await onSmallDisk(2, SOON)
    disk.fill()
    const daemon = startAlbumd(stage, ['run'], disk)
    await says(daemon, /No room on the disk/)
    await ended(daemon)
  })
})

it.skipIf(!canMount() && !process.env.CI)('a state on a read-only disk is named as that', async () => {
  const stage = await stageOf(1)
  const { through } = await bindReadOnly(join(stage.home, 'state'))
  const onReadOnly = stageThrough(stage, { through })
  for (const before of ['nothing', 'a state']) {
    const { code, err } = await onReadOnly.sync()
    expect(code, `${before}: ${err}`).toBe(1)
    oneLine(err, /read-only/)
    // systemd starts it again.
    expect(await startAlbumd(stage, ['run'], { through }).ended).toMatchObject({ code: 1 })
    expect(await stage.sync()).toMatchObject({ code: 0 })
  }
})
