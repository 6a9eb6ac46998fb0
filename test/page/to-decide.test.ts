import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CommandContext } from '../../src/daemon/commands/command.ts'
import { deletionsCommand, setOfImages } from '../../src/daemon/commands/deletions.ts'
import type { Session } from '../../src/daemon/commands/queue.ts'
import { statusOf } from '../../src/daemon/report/status.ts'
import { readToDecide } from '../../src/page/to-decide.ts'
import { type Asked, asked } from '../daemon/report/asked.ts'
import { png } from '../pictures.ts'

/** A mirror that has lost these pictures, and kept one. */
async function without(...paths: string[]): Promise<Asked> {
  const at = await asked()
  for (const [n, path] of [...paths, 'stays.png'].entries()) at.write(path, png(3 + n, 3).bytes)
  await at.pass()
  for (const path of paths) rmSync(join(at.pictures, path))
  await at.pass()
  return at
}

const shown = ({ config, synced, pictures }: Asked) =>
  readToDecide({ config, synced } as Session, statusOf(config, synced, true, Date.now()).mirrors).map(
    group => {
      return { ...group, folder: group.folder.replace(pictures, '') }
    },
  )

it('puts the folders in a folder together with it, as a decision about it means them', async () => {
  const at = await without('a/1.png', 'a/b/2.png', 'a/b/c/3.png', 'a!/4.png', 'ab/5.png')
  const groups = shown(at)
  expect(groups.map(({ folder, images, held, gone }) => [folder, images.length, held, gone])).toEqual([
    ['/a!', 1, 1, 1],
    ['/a', 3, 3, 3],
    ['/ab', 1, 1, 1],
  ])
  expect(groups[1]!.shown.map(({ name }) => name)).toEqual(['1.png', '2.png', '3.png'])

  const path = join(at.pictures, 'a')
  const approve = (images: number[]) =>
    deletionsCommand.carryOut(at as unknown as CommandContext, {
      action: 'approve',
      path,
      seen: setOfImages(images),
    })
  // As many, but not those that were seen.
  const others = [...groups[1]!.images.slice(1), groups[2]!.images[0]!]
  await expect(approve(others)).rejects.toThrow(/Other deletions wait now/)
  expect(shown(at)).toEqual(groups)
  await approve(groups[1]!.images.toReversed())
  expect(shown(at).map(({ folder }) => folder)).toEqual(['/a!', '/ab'])
})

it('shows a mirror as a whole where its pictures were in many folders', async () => {
  const at = await without(...Array.from({ length: 13 }, (_, n) => `${n}/p.png`))
  expect(shown(at).map(({ folder, images }) => [folder, images.length])).toEqual([['', 13]])
})
