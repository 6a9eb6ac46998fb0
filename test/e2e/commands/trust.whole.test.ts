import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { bindFolder, canMount, mountSmallDisk } from '../disk/small-disk.ts'
import { stageThrough } from '../stage/process.ts'
import { type Stage, setStage } from '../stage/stage.ts'

const status = async (stage: Stage) => (await stage.status()).mirrors[0]

const TWELVE = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`a/${n}.png`, png(2 + n, 2).bytes]))
const mirrored = (config: object = {}) =>
  setStage({ pictures: { ...TWELVE, 'top.png': png(20, 20).bytes }, config })

describe('trust', () => {
  it('sync --prune-ignored gives up the images of what a rule hides, and only with it', async () => {
    const stage = await mirrored()
    stage.write('.albumdignore', 'a/[0-2].png\n')
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.listing()).toHaveLength(13)
    const plan = await stage.here('sync', '--prune-ignored', '--dry-run')
    expect(plan.out).toContain('delete a/0.png (hidden by an ignore rule)')
    expect(await stage.listing()).toHaveLength(13)
    const pruned = await stage.here('sync', '--prune-ignored')
    expect(pruned).toMatchObject({ code: 0 })
    expect(pruned.out).toContain('deleted the image of a/0.png')
    expect(await stage.listing()).toHaveLength(10)
    stage.write('.albumdignore', '')
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.listing()).toHaveLength(13)
  })

  it('accepts a root that was emptied, after saying what that deletes', async () => {
    const stage = await mirrored()
    for (const name of readdirSync(stage.pictures)) rmSync(join(stage.pictures, name), { recursive: true })
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    expect(await status(stage)).toMatchObject({
      state: 'guarded',
      reason: expect.stringContaining(`"albumd trust ${stage.pictures}"`),
    })
    const told = await stage.albumd('trust', 'pictures')
    expect(told).toMatchObject({ code: 0, err: '' })
    expect(told.out.split('\n')[0]).toBe(`${stage.pictures} is empty and held pictures before`)
    expect(told.out).not.toContain('albumd trust')
    expect(told.out).toContain('13 pictures that have images are not there now')
    expect(told.out.match(/^ {2}(a\/\d+|top)\.png$/gm)).toHaveLength(10)
    expect(told.out).toContain('and 3 more')
    expect(told.out).toContain('\nToo many at once are held until')
    expect(await stage.listing()).toHaveLength(13)
    expect((await status(stage)).reason).toContain('is trusted as it is')
    expect(await stage.pass()).toMatchObject({ exit_code: 3, left: { held_deletions: 13 } })
    await stage.here('deletions', 'approve')
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.listing()).toEqual([])
    expect(await stage.here('trust', 'pictures')).toMatchObject({
      code: 0,
      out: expect.stringContaining('nothing to trust'),
    })
  })

  it('accepts another root, and the hold applies all the same', async () => {
    const stage = await mirrored({ deletions: { hold_above: '25%', hold_min: 1 } })
    renameSync(stage.pictures, `${stage.pictures}-old`)
    mkdirSync(stage.pictures)
    stage.write('new.png', png(30, 30).bytes)
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    expect(await stage.listing()).toHaveLength(13)
    expect(await stage.json('trust', stage.pictures)).toMatchObject({
      folder: stage.pictures,
      trusted: true,
      missing: 13,
      reason: expect.stringContaining('another folder'),
    })
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    expect(await status(stage)).toMatchObject({ state: 'idle', held_deletions: 13, synced: 1 })
    expect(await stage.listing()).toHaveLength(14)
  })

  it('refuses what can not be looked at, and what lies in no mirror', async () => {
    const stage = await mirrored()
    renameSync(stage.pictures, `${stage.pictures}-old`)
    for (const [folder, why] of [
      [stage.pictures, 'is not there'],
      [join(stage.pictures, 'a'), 'is not there'],
      [stage.home, `${stage.home} lies in no mirror; the only mirror is ${stage.pictures}`],
    ] as const) {
      const { code, out, err } = await stage.here('trust', folder)
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err.trimEnd().split('\n')).toEqual([expect.stringContaining(why)])
    }
  })
})

// Without mounts of one's own there is nothing to test with; where CI runs there must be.
describe.skipIf(!canMount() && !process.env.CI)('a disk mounted below the root', () => {
  it('that another one has replaced keeps its images', async () => {
    const stage = await setStage()
    stage.write('top.png', png(20, 20).bytes)
    const usb = join(stage.pictures, 'usb')
    const one = await mountSmallDisk(usb, '8m')
    const other = await mountSmallDisk(usb, '8m')
    const source = join(stage.home, 'source')
    mkdirSync(source)
    for (let n = 0; n < 3; n++) renameSync(written(stage, n), join(source, `${n}.png`))
    const [enter, ...more] = one.through
    execFileSync(enter!, [...more, 'cp', '-r', `${source}/.`, usb])
    expect(await stageThrough(stage, one).sync()).toMatchObject({ code: 0 })
    const all = await stage.listing()
    expect(all).toHaveLength(4)
    expect(await stageThrough(stage, other).sync()).toMatchObject({ code: 3 })
    expect(await stage.listing()).toEqual(all)
    expect((await status(stage)).reason).toContain('Another disk is mounted here')
    expect(await stageThrough(stage, one).sync()).toMatchObject({ code: 0 })
    expect(await stage.listing()).toEqual(all)
  })

  it('that is a folder of the same disk keeps its images, until it is back', async () => {
    const stage = await setStage()
    stage.write('top.png', png(20, 20).bytes)
    const source = join(stage.home, 'source')
    mkdirSync(source)
    for (let n = 0; n < 3; n++) renameSync(written(stage, n), join(source, `${n}.png`))
    const shown = join(stage.pictures, 'shown')
    const bound = stageThrough(stage, await bindFolder(source, shown))
    expect(await bound.sync()).toMatchObject({ code: 0 })
    const all = await stage.listing()
    expect(all).toHaveLength(4)
    // Outside of its namespace nothing is mounted.
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    expect(await stage.listing()).toEqual(all)
    expect((await status(stage)).reason).toContain('Mount it again')
    expect(await bound.sync()).toMatchObject({ code: 0 })
    expect(await stage.listing()).toEqual(all)
  })

  it('that is unmounted keeps its images, until it is back or a person says that it is gone', async () => {
    const stage = await setStage()
    stage.write('top.png', png(20, 20).bytes)
    const usb = join(stage.pictures, 'usb')
    const disk = await mountSmallDisk(usb, '8m')
    // Outside of its namespace the disk is not mounted.
    const mounted = stageThrough(stage, disk)
    const source = join(stage.home, 'source/deep')
    mkdirSync(source, { recursive: true })
    for (let n = 0; n < 3; n++) renameSync(written(stage, n), join(source, `${n}.png`))
    const [enter, ...more] = disk.through
    execFileSync(enter!, [...more, 'cp', '-r', source, usb])
    expect(await mounted.sync()).toMatchObject({ code: 0 })
    const all = await stage.listing()
    expect(all).toHaveLength(4)

    const unmounted = await stage.here('sync')
    expect(unmounted.code).toBe(3)
    expect(await stage.listing()).toEqual(all)
    expect(await status(stage)).toMatchObject({
      state: 'guarded',
      reason: expect.stringContaining(
        `Mount it again; only if on purpose, "albumd trust ${usb}" takes what is missing as deleted`,
      ),
    })
    expect(await mounted.sync()).toMatchObject({ code: 0 })
    expect(await stage.listing()).toEqual(all)

    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    const told = await stage.here('trust', usb)
    expect(told.out).toContain('3 pictures that have images are not there now')
    expect(told.out).toContain('  usb/deep/0.png\n')
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.paths()).toEqual(['Photos/top.png'])
  })
})

function written(stage: Stage, n: number): string {
  stage.write(`${n}.png`, png(2 + n, 5).bytes)
  return join(stage.pictures, `${n}.png`)
}
