import { closeSync, openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from '../../measure/wait.ts'
import { randomPicture } from '../../trees/picture-set.ts'

const PIECES = 4
const PAUSE_MS = 30

/** Writes a picture of 200 KB, at once or in pieces with pauses. Answers when it was closed; see `nowMs`. */
export async function writePicture(path: string, inPieces: boolean): Promise<number> {
  const bytes = randomPicture(256, 260)
  const file = openSync(path, 'w')
  const step = inPieces ? Math.ceil(bytes.length / PIECES) : bytes.length
  for (let at = 0; at < bytes.length; at += step) {
    if (at > 0) await sleep(PAUSE_MS)
    writeSync(file, bytes, at, Math.min(step, bytes.length - at))
  }
  closeSync(file)
  return nowMs()
}

export const PICTURE_SIZE = randomPicture(256, 260).length
