import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tinyPicture } from './picture.ts'
import { changingFile, fileName, leavesOf, type TreeShape } from './shape.ts'

/** The tree's folder below `folder`, made where it is not whole. `making` is called then: a million files take a minute. */
export function treeIn(folder: string, shape: TreeShape, making: () => void): string {
  const tree = join(folder, shape.name)
  const whole = `${tree}.whole`
  if (existsSync(whole)) return tree
  making()
  rmSync(tree, { recursive: true, force: true })
  let number = 0
  for (const leaf of leavesOf(shape)) {
    const path = join(tree, leaf)
    mkdirSync(path, { recursive: true })
    for (let end = Math.min(number + shape.perFolder, shape.files); number < end; number++)
      writeFileSync(join(path, fileName(number)), tinyPicture(number))
  }
  writeFileSync(join(tree, changingFile(shape)), tinyPicture(shape.files))
  writeFileSync(whole, '')
  return tree
}

/** Puts a new file in the place of the changing one. A file that was written over waits longer before it is sent. */
export function renewOneFile(tree: string, shape: TreeShape): void {
  rmSync(join(tree, changingFile(shape)))
  changeOneFile(tree, shape)
}

/** Gives the changing file bytes that it never had before. */
export function changeOneFile(tree: string, shape: TreeShape): void {
  // Beyond the numbers of the others.
  const number = 2 ** 24 + (Math.floor(performance.timeOrigin + performance.now()) % 2 ** 31)
  writeFileSync(join(tree, changingFile(shape)), tinyPicture(number))
}
