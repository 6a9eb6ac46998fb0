import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

/** 256 bits: nobody guesses them. */
const BYTES = 32

export function newSecret(): string {
  return randomBytes(BYTES).toString('base64url')
}

/**
 * The key of the page, for those who are not known by their connection: whoever can read its file is the user of this
 * albumd, or root. It is kept, so that a browser can remember it; one that others could read is none. Where it can't be
 * kept, it is another at each start.
 */
export function readOrMakeKey(file: string): string {
  const kept = readKey(file)
  if (kept !== null) return kept
  const key = newSecret()
  try {
    rmSync(file, { force: true })
    writeFileSync(file, `${key}\n`, { mode: 0o600, flag: 'wx' })
  } catch {
    // A full disk: it is known to this process alone.
  }
  return key
}

function readKey(file: string): string | null {
  try {
    if ((statSync(file).mode & 0o077) !== 0) return null
    const key = readFileSync(file, 'utf8').trim()
    return /^[\w-]{43,}$/.test(key) ? key : null
  } catch {
    // There is none yet.
    return null
  }
}

/** Whether two texts are equal, in a time that tells nothing of where they differ. */
export function isEqual(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(a), hash(b))
}
