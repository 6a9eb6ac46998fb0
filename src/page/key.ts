import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

/** 256 bits: nobody guesses them. */
const BYTES = 32

export function newSecret(): string {
  return randomBytes(BYTES).toString('base64url')
}

/**
 * The key of the page, for those who are not known by their connection: whoever can read its file is the user of this
 * albumd, or root. It is kept, so that a browser can remember it. Where it can't be kept, it is another at each start.
 */
export function readOrMakeKey(file: string): string {
  try {
    const key = readFileSync(file, 'utf8').trim()
    if (/^[\w-]{43,}$/.test(key)) return key
  } catch {
    // There is none yet.
  }
  const key = newSecret()
  try {
    writeFileSync(file, `${key}\n`, { mode: 0o600 })
  } catch {
    // A full disk: it is known to this process alone.
  }
  return key
}

/** Whether two texts are equal, in a time that tells nothing of where they differ. */
export function isEqual(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(a), hash(b))
}
