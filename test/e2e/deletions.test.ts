import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { png } from '../pictures.ts'
import { type Stage, setStage } from './stage.ts'

const hold = { deletions: { hold_above: '25%', hold_min: 1 } }

async function withHeld(): Promise<Stage> {
  const stage = await setStage({ config: hold })
  for (const n of [0, 1, 2, 3]) stage.write(`a/${n}.png`, png(2 + n, 2).bytes)
  await stage.sync()
  for (const n of [0, 1, 2]) rmSync(join(stage.pictures, `a/${n}.png`))
  const { code, out } = await stage.sync()
  expect(code).toBe(3)
  expect(out).toContain('3 images would be deleted')
  expect(await stage.listing()).toHaveLength(4)
  return stage
}

it('held deletions are listed with what would go, and go when they are approved', async () => {
  const stage = await withHeld()
  expect((await stage.json('status')).mirrors[0]).toMatchObject({ held_deletions: 3, pending_deletions: 0 })
  const { deletions } = await stage.json('deletions', 'list')
  expect(deletions).toMatchObject([
    { path: 'a/0.png', reason: 'deleted' },
    { path: 'a/1.png' },
    { path: 'a/2.png' },
  ])
  const approved = await stage.albumd('deletions', 'approve', 'a/1.png', '--config', stage.config)
  expect(approved.out).toContain('a/1.png')
  expect(approved.out).not.toContain('a/0.png')
  expect(await stage.listing()).toHaveLength(4)
  expect(await stage.sync()).toMatchObject({ code: 3 })
  expect(Object.keys(await stage.delivered()).sort()).toEqual([
    'Photos/a/0.png',
    'Photos/a/2.png',
    'Photos/a/3.png',
  ])
  await stage.albumd('deletions', 'approve', '--config', stage.config)
  expect(await stage.sync()).toMatchObject({ code: 0 })
  expect(Object.keys(await stage.delivered())).toEqual(['Photos/a/3.png'])
})

it('held deletions that are discarded leave the images for good, and a picture that comes back finds its own', async () => {
  const stage = await withHeld()
  await stage.albumd('deletions', 'discard', 'a', '--config', stage.config)
  const before = await stage.listing()
  expect(await stage.sync()).toMatchObject({ code: 0 })
  expect(await stage.listing()).toEqual(before)
  stage.write('a/0.png', png(2, 2).bytes)
  expect(await stage.sync()).toMatchObject({ code: 0 })
  expect(await stage.listing()).toEqual(before)
})
