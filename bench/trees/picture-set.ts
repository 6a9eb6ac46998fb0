import { randomFillSync } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bmp, HEADER } from './picture.ts'
import { fileName } from './shape.ts'

/** Pictures that lie flat in one folder, each with bytes of its own. */
export interface PictureSet {
  name: string
  count: number
  width: number
  height: number
}

export const PICTURE_SETS = {
  /** 200 KB each. */
  many: { name: 'many-200KB', count: 2000, width: 256, height: 260 },
  /** 50 MB each. */
  large: { name: 'large-50MB', count: 20, width: 4096, height: 4069 },
  /** 20 KB each. */
  few: { name: 'few-20KB', count: 300, width: 64, height: 104 },
} satisfies Record<string, PictureSet>

/** The set below `folder`; it is made where it is not there whole. */
export function pictureSetIn(folder: string, set: PictureSet, making: () => void): string {
  const path = join(folder, set.name)
  const whole = `${path}.whole`
  if (existsSync(whole)) return path
  making()
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path, { recursive: true })
  for (let number = 0; number < set.count; number++)
    writeFileSync(join(path, fileName(number)), randomPicture(set.width, set.height))
  writeFileSync(whole, '')
  return path
}

/** A whole picture with random pixels. `width`: a multiple of 4. */
export function randomPicture(width: number, height: number): Buffer {
  return randomFillSync(bmp(width, height), HEADER)
}
