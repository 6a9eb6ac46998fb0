import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { type Stage, setStage, sha256 } from '../stage/stage.ts'

const red = png(3, 2, 10).bytes

describe('a root in doubt', () => {
  it.each([
    ['missing', (stage: Stage) => renameSync(stage.pictures, `${stage.pictures}-away`), 2],
    [
      'empty',
      (stage: Stage) => {
        renameSync(stage.pictures, `${stage.pictures}-away`)
        mkdirSync(stage.pictures)
      },
      3,
    ],
    [
      'another folder',
      (stage: Stage) => {
        renameSync(stage.pictures, `${stage.pictures}-away`)
        mkdirSync(stage.pictures)
        stage.write('other.png', png(7, 7).bytes)
      },
      3,
    ],
  ])(
    'that is %s deletes and uploads nothing, and is trusted again when it is back',
    async (_, doubt, expected) => {
      const stage = await setStage()
      stage.write('red.png', red)
      stage.write('b/red.png', red)
      await stage.sync()
      const before = await stage.listing()
      doubt(stage)
      expect(await stage.sync()).toMatchObject({ code: expected })
      expect(await stage.listing()).toEqual(before)
      rmSync(stage.pictures, { recursive: true, force: true })
      renameSync(`${stage.pictures}-away`, stage.pictures)
      rmSync(join(stage.pictures, 'b'), { recursive: true })
      expect(await stage.sync()).toMatchObject({ code: 0 })
      expect(await stage.delivered()).toEqual({ 'Photos/red.png': sha256(red) })
    },
  )

  it('that is the same one restored from a backup is trusted by its files', async () => {
    const stage = await setStage()
    stage.write('red.png', red)
    await stage.sync()
    renameSync(stage.pictures, `${stage.pictures}-away`)
    mkdirSync(stage.pictures)
    renameSync(join(`${stage.pictures}-away`, 'red.png'), join(stage.pictures, 'red.png'))
    const before = await stage.listing()
    expect(await stage.sync()).toMatchObject({ code: 0 })
    expect((await stage.json('status')).mirrors[0]).toMatchObject({ state: 'idle', synced: 1 })
    expect(await stage.listing()).toEqual(before)
  })
})
