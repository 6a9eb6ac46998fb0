import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { daemonHere, stageThrough } from '../stage/process.ts'
import { type Stage, setStage, sha256 } from '../stage/stage.ts'
import { bindFolder, canMount } from './small-disk.ts'

const red = png(3, 2, 10).bytes

describe('a root in doubt', () => {
  it.each<[string, code: number, comes: (stage: Stage) => void]>([
    ['missing', 2, () => {}],
    ['empty', 3, ({ pictures }) => mkdirSync(pictures)],
    ['another folder', 3, stage => stage.write('other.png', png(7, 7).bytes)],
  ])(
    'that is %s deletes and uploads nothing, and is trusted again when it is back',
    async (_, code, comes) => {
      const stage = await setStage({ pictures: { 'red.png': red, 'b/red.png': red } })
      const before = await stage.listing()
      renameSync(stage.pictures, `${stage.pictures}-away`)
      comes(stage)
      expect(await stage.here('sync')).toMatchObject({ code })
      expect(await stage.listing()).toEqual(before)
      rmSync(stage.pictures, { recursive: true, force: true })
      renameSync(`${stage.pictures}-away`, stage.pictures)
      rmSync(join(stage.pictures, 'b'), { recursive: true })
      expect(await stage.pass()).toMatchObject({ exit_code: 0 })
      expect(await stage.delivered()).toEqual({ 'Photos/red.png': sha256(red) })
    },
  )

  it('lets nobody advise a restore into the folder, which restore refuses', async () => {
    const stage = await setStage({ config: { deletions: { grace: '1h' } } })
    stage.write('red.png', red)
    stage.write('b/other.png', png(8, 8).bytes)
    const daemon = await daemonHere(stage)
    await daemon.told('picture_uploaded', 2)
    rmSync(join(stage.pictures, 'red.png'))
    await daemon.told('picture_gone')
    expect(await daemon.stop()).toBe(0)
    const steps = async () => {
      const { next } = await stage.json('why', join(stage.pictures, 'red.png'))
      return next.map(({ code }: { code: string }) => code)
    }
    expect(await steps()).toContain('bring_back')
    const at = new Date().toISOString()
    const restore = (folder: string) => stage.here('restore', folder, '--at', at)
    renameSync(stage.pictures, `${stage.pictures}-away`)
    expect(await restore(stage.pictures)).toMatchObject({ code: 2 })
    mkdirSync(stage.pictures)
    stage.write('other.png', png(7, 7).bytes)
    expect(await stage.here('sync')).toMatchObject({ code: 3 })
    expect(await steps()).not.toContain('bring_back')
    expect(await restore(stage.pictures)).toMatchObject({ code: 2 })
    expect(await restore(join(stage.home, 'other'))).toMatchObject({ code: 0 })
  })

  it('is why put sends nothing, for a person and for a program', async () => {
    const stage = await setStage()
    stage.write('red.png', red)
    await stage.pass()
    renameSync(stage.pictures, `${stage.pictures}-away`)
    stage.write('new.png', png(7, 7).bytes)
    const path = join(stage.pictures, 'new.png')
    const { code, out } = await stage.here('put', path, '--json')
    expect(code).toBe(3)
    const [told] = JSON.parse(out).pictures
    expect(told).toMatchObject({ path, cdn_url: null, code: 'GUARDED' })
    expect((await stage.json('why', path)).guard).toBe(told.reason)
    expect((await stage.here('url', path, '--json')).out).toContain('"code":"LEFT"')
    expect(await stage.json('url', path)).toMatchObject({ error: { code: 'LEFT', cause: 'GUARDED' } })
  })
})

describe.skipIf(!canMount() && !process.env.CI)('an older copy that is mounted', () => {
  it.each([
    ['over the root', '', 'is another folder than before, without some pictures'],
    ['over a folder', 'trip', 'A disk was mounted here, and not all of the pictures are on it'],
  ])('%s deletes nothing, and is no matter once it is gone', async (_, folder, why) => {
    const stage = await setStage()
    for (let n = 0; n < 10; n++) stage.write(`trip/${n}.png`, png(3, 2 + n).bytes)
    const older = join(stage.home, 'older')
    execFileSync('cp', ['-a', join(stage.pictures, folder), older])
    for (const n of [10, 11, 12]) stage.write(`trip/${n}.png`, png(3, 2 + n).bytes)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    const before = await stage.listing()
    expect(before).toHaveLength(13)
    const mounted = stageThrough(stage, await bindFolder(older, join(stage.pictures, folder)))
    expect(await mounted.sync()).toMatchObject({ code: 3, out: expect.stringContaining(why) })
    expect(await stage.listing()).toEqual(before)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.listing()).toEqual(before)
  })
})
