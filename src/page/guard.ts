import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { Context } from 'hono'
import { auth } from 'hono/utils/basic-auth'

/** Headers of every answer. The page may load nothing from elsewhere, run no inline script and stand in no frame. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // With `no-referrer` a browser would send the page's own forms with the origin "null".
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/**
 * Whether the Host header is an IP address or `localhost`. Another site can make its own name lead to this machine (DNS
 * rebinding), but then the Host header holds that name.
 */
export function isOwnHost(host: string | undefined): boolean {
  const url = host === undefined ? null : URL.parse(`http://${host}`)
  if (!url || url.username || url.password || url.pathname !== '/' || url.search || url.hash) return false
  const name = url.hostname.replace(/^\[|\]$/g, '')
  return name === 'localhost' || isIP(name) !== 0
}

/** Whether a form was sent by this page itself. Browsers send both headers, and no site can forge them. */
export function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  const from = origin === undefined ? null : URL.parse(origin)
  return host !== undefined && from !== null && from.host === URL.parse(`${from.protocol}//${host}`)?.host
}

/** Whether another site loads a part of the page. A link from another site to the page is allowed. */
export function isAskedByOthers(fetchSite: string | undefined, fetchMode: string | undefined): boolean {
  if (fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none') return false
  return fetchMode !== 'navigate'
}

/** Headers that proxies add. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/** Whether a request came through a proxy. Then its connection does not tell who asks. */
export function isForwarded({ req }: Context): boolean {
  return FORWARDED.some(name => req.header(name) !== undefined)
}

/** Whether the password of a Basic Authorization header is the key. The user name does not matter. */
export function hasKey(request: Request, key: string): boolean {
  const given = auth(request)
  return given !== undefined && isEqual(given.password, key)
}

/** 32 bytes, because 256 random bits can't be guessed. */
const KEY_BYTES = 32

export function newSecret(): string {
  return randomBytes(KEY_BYTES).toString('base64url')
}

/**
 * The key that opens the page to people whom albumd can't recognize by their connection. Only the user of this albumd and
 * root can read its file. The file keeps the key over restarts, so that a browser can remember it. A new key is made when
 * other users could read the file, and at each start when the file can't be written.
 */
export function readOrMakeKey(file: string): string {
  const kept = readKey(file)
  if (kept !== null) return kept
  const key = newSecret()
  try {
    rmSync(file, { force: true })
    writeFileSync(file, `${key}\n`, { mode: 0o600, flag: 'wx' })
  } catch {
    // When the key can't be written, as on a full disk, only this process knows the key.
  }
  return key
}

function readKey(file: string): string | null {
  try {
    if ((statSync(file).mode & 0o077) !== 0) return null
    const key = readFileSync(file, 'utf8').trim()
    return /^[\w-]{43,}$/.test(key) ? key : null
  } catch {
    // There is no file yet.
    return null
  }
}

/** Whether two texts are equal. The time that this takes does not tell where they differ. */
export function isEqual(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(a), hash(b))
}
