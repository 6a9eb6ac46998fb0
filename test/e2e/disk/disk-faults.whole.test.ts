import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { canPreload } from '../../preload.ts'
import {
  endedInSync,
  expectInSync,
  type LeapingStage,
  localTree,
  passUntilDone,
  says,
  setLeapingStage,
} from '../stage/fault-stage.ts'
import { stageThrough, startAlbumd } from '../stage/process.ts'
import type { Stage } from '../stage/stage.ts'
import { makeFailingDisk } from './failing-disk.ts'

const writeAll = (stage: Stage) => {
  for (const path of ['a/1.png', 'a/2.png', 'b/3.png', 'b/4.png']) write(stage, path)
}

/** `settled`: with pictures that are on the host. The disk fails for processes alone: passes and status of this one are of a
 * disk that has healed. */
async function onFailingDisk(settled = true) {
  const stage = await setLeapingStage({ onDisk: true, ...(settled && { before: writeAll }) })
  if (!settled) writeAll(stage)
  const disk = makeFailingDisk(stage.home)
  return { disk, stage, sync: stageThrough(stage, disk).sync }
}

async function healsInSync(stage: LeapingStage): Promise<void> {
  await passUntilDone(stage)
  await expectInSync(stage)
}

function write(stage: Stage, path: string): void {
  stage.write(path, png(10 + Number(/\d+/.exec(path)![0]), 7).bytes)
}

describe.skipIf(!canPreload() && !process.env.CI)('a disk that fails', () => {
  it('at a picture leaves it as a failure, sends the others, and heals', async () => {
    const { disk, stage, sync } = await onFailingDisk(false)
    disk.fail({ operation: 'read', path: join(stage.pictures, 'a/1.png') })
    expect(await sync()).toMatchObject({ code: 3, err: '' })
    const status = await stage.status()
    expect(status.failures).toMatchObject([
      { path: 'a/1.png', code: 'UNREADABLE', message: expect.stringContaining('EIO') },
    ])
    expect(status.mirrors).toMatchObject([{ synced: 3, failed: 1 }])
    disk.heal()
    await healsInSync(stage)
  })

  it('at a picture that is on the host already keeps its image', async () => {
    const { disk, stage, sync } = await onFailingDisk()
    const before = await stage.listing()
    disk.fail({ operation: 'read', path: join(stage.pictures, 'a/1.png') })
    // Its look is another one, so it is to be read.
    write(stage, 'a/1.png')
    expect(await sync()).toMatchObject({ code: 3 })
    expect(await stage.listing()).toEqual(before)
    disk.heal()
    await passUntilDone(stage)
    expect(await stage.listing()).toEqual(before)
  })

  it('at a folder deletes nothing, anywhere, until it heals', async () => {
    const { disk, stage, sync } = await onFailingDisk()
    const before = await stage.listing()
    disk.fail({ operation: 'list', path: join(stage.pictures, 'a') })
    rmSync(join(stage.pictures, 'b/3.png'))
    write(stage, 'b/5.png')
    expect(await sync()).toMatchObject({ code: 3 })
    expect(await stage.listing()).toEqual(expect.arrayContaining(before))
    const { mirrors, failures } = await stage.status()
    expect(mirrors).toMatchObject([{ state: 'guarded', reason: expect.stringContaining('EIO') }])
    expect(failures).toMatchObject([{ path: 'a', message: expect.stringContaining('EIO') }])
    expect(Object.keys(await stage.delivered())).toContain('Photos/b/5.png')
    disk.heal()
    await healsInSync(stage)
  })

  it.each([
    ['under the state of a sync that writes ends it with what to do', 'write', '-wal'],
    ['under the state of a sync that begins ends it too', 'read', ''],
  ] as const)('%s, and the next one goes on', async (_, operation, part) => {
    const { disk, stage, sync } = await onFailingDisk()
    write(stage, 'b/5.png')
    disk.fail({ operation, path: join(stage.home, `state/albumd.db${part}`) })
    const { code, err } = await sync()
    expect(code).toBe(1)
    expect(err).toMatch(
      /^albumd: .*state\/albumd\.db: State can't be read or written \(disk I\/O error\)[^\n]*\n$/,
    )
    disk.heal()
    const next = await sync()
    expect(next.err).toBe('')
    expect([0, 3]).toContain(next.code)
    await healsInSync(stage)
  })

  it('under the state of the daemon lets it wait, and go on by itself', async () => {
    const { disk, stage } = await onFailingDisk(false)
    const daemon = startAlbumd(stage, ['run'], disk)
    await says(daemon, /picture_uploaded/)
    disk.fail({ operation: 'write', path: join(stage.home, 'state/albumd.db-wal') })
    write(stage, 'b/5.png')
    await says(daemon, /State can't be read or written/)
    disk.heal()
    await expect.poll(() => stage.delivered(), { interval: 500 }).toEqual(localTree(stage))
    await says(daemon, /works again/)
    await endedInSync(daemon, stage)
  })
})
