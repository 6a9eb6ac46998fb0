import { createHash } from 'node:crypto'
import type { FolderLook } from './look.ts'

/** 16 bytes are beyond chance, and half the room in a million files' database. */
const BYTES = 16

/**
 * Equal for equal looks under equal rules, and only for them. The device is left out: its number may be another
 * after a reboot. Expects the look's lists in order.
 */
export function digestOf(look: FolderLook, rules: string): string {
  const { files, identity, ...rest } = look
  // JSON ends by itself, so no two looks can run into one another. Numbers as text would cost more than the hash.
  const text = JSON.stringify([rules, identity.ino, identity.birthtime, rest, files.map(file => file.name)])
  const numbers = new Float64Array(files.length * 4)
  let at = 0
  for (const file of files) {
    numbers[at++] = file.size
    numbers[at++] = file.mtime
    numbers[at++] = file.ctime
    numbers[at++] = file.ino
  }
  return createHash('sha256').update(text).update(numbers).digest().toString('base64', 0, BYTES)
}
