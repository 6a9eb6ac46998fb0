import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Readings } from '../../../src/host/decisions.ts'
import { cameraPicture } from '../../page/camera-picture.ts'
import { png } from '../../pictures.ts'
import { holds } from '../stage/holds.ts'
import { inParallel } from '../stage/in-parallel.ts'
import { setStage } from '../stage/stage.ts'

const sample = (path: string) =>
  readFileSync(join(import.meta.dirname, '../../../src/cli/try/pictures', path))

/** What the specification leaves open. The forms of answers stand in test/remote/answers and requests. */
const OTHERS: readonly Partial<Readings>[] = [
  { dimensions: 'turned' },
  { albumNames: 'unique' },
  { openUploadsInAllMax: 1 },
  { depthMax: 1 },
  { depthMax: 1, tooDeep: 'VALIDATION_ERROR' },
  { depthMax: 1, tooDeep: 'FORBIDDEN' },
]

it('albumd mirrors, changes, deletes, audits and adopts on a host of each single reading', async () => {
  await inParallel(4, OTHERS, mirrorsOn)
})

/** Six kinds of pictures: one that EXIF turns, two whose types need no dimensions, one whose name stands for another type. */
async function mirrorsOn(readings: Partial<Readings>): Promise<void> {
  const stage = await setStage({ host: { readings }, config: { deletions: { grace: '0', hold_min: 20 } } })
  const files = new Map<string, Buffer>([
    ['red.png', png(3, 2, 1).bytes],
    ['turned.jpg', cameraPicture(sample('Holiday/Coast/Sunset on the beach.jpg'), 6, 0)],
    ['scan.tif', sample('Scans/Letter, page 2.tif')],
    ['drawing.svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>')],
    ['tief ü /blue.png', png(3, 2, 2).bytes],
    ['a png.jpg', png(7, 2, 5).bytes],
  ])
  for (const [path, bytes] of files) stage.write(path, bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  await holds(stage, files)

  files.set('red.png', png(30, 20, 3).bytes)
  files.set('new.png', png(5, 5, 4).bytes)
  for (const path of ['red.png', 'new.png']) stage.write(path, files.get(path)!)
  files.delete('tief ü /blue.png')
  rmSync(join(stage.pictures, 'tief ü /blue.png'))
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  await holds(stage, files)

  const { result } = await stage.asked('audit', { repair: false })
  expect(result).toMatchObject({ complete: true, findings: [], stopped: [] })
  const before = await stage.listing()
  rmSync(join(stage.home, 'state'), { recursive: true })
  expect(await stage.asked('adopt', { verify: false })).toMatchObject({ verdict: 'in_sync', stopped: [] })
  expect(await stage.listing()).toEqual(before)
}
