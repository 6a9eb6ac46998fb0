import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import type { SteadyClock } from '../../src/protocol/clock.ts'
import { REQUESTS_PER_SECOND } from '../../src/protocol/limits.ts'
import { openImageHost, type RemoteOptions } from '../../src/remote/client.ts'
import type { ImageHost, Outcome, PictureBody } from '../../src/remote/host.ts'
import { inWords } from '../../src/words/reasons.ts'

export const API_KEY = 'key-0123456789-secret'
/** The credential in every upload address of these tests. */
export const TOKEN = 'token-9876543210-secret'

export const never = new AbortController().signal

/** A client of the host at `origin`, closed after the test. By default it sends each request only once. */
export function clientOf(origin: string, options: Partial<RemoteOptions> = {}): ImageHost {
  const host = openImageHost({
    baseUrl: `${origin}/api/v1`,
    siteUrl: origin,
    apiKey: API_KEY,
    uploadForm: 'credential',
    timeoutMs: 5000,
    credentialLifetimeMs: 60_000,
    requestsPerSecond: REQUESTS_PER_SECOND,
    concurrency: 8,
    patience: { attempts: 1, maxDelayMs: 0 },
    clock: systemClock,
    ...options,
  })
  onTestFinished(async () => void (await host.close()))
  return host
}

export async function successOf<T>(outcome: Promise<Outcome<T>>): Promise<T> {
  const result = await outcome
  if (!result.ok) throw new Error(`${result.failure.code}: ${inWords(result.failure.message)}`)
  return result.value
}

/** The failure of a call, with its message in words. Checks that the message is one line and contains no secret. */
export async function failureOf(outcome: Promise<Outcome<unknown>>) {
  const result = await outcome
  if (result.ok) throw new Error('it succeeded')
  const text = JSON.stringify(result.failure)
  expect(text).not.toContain(API_KEY)
  expect(text).not.toContain(TOKEN)
  const message = inWords(result.failure.message)
  expect(message).toMatch(/^[^\p{Cc}]+$/u)
  return { ...result.failure, message }
}

export const systemClock: SteadyClock = {
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
}

/** Arbitrary bytes, always the same for the same size. */
export function bytesOf(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  for (let i = 0; i < size; i++) bytes[i] = (i * 31 + (i >> 8)) & 0xff
  return bytes
}

/** A picture that is read in chunks, as pictures that are too large for memory are. */
export function chunked(bytes: Buffer, chunk = 64 * 1024): PictureBody {
  return {
    fileName: 'picture.jpg',
    mime: 'image/jpeg',
    size: bytes.length,
    async *chunks() {
      for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
    },
  }
}

export function inMemory(bytes: Buffer): PictureBody {
  return { ...chunked(bytes), bytes }
}

/** A picture in memory that has room around it. */
export function inOnePiece(bytes: Buffer): PictureBody {
  return { ...inMemory(bytes), framed: (head, tail) => Buffer.concat([head, bytes, tail]) }
}

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
