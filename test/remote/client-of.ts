import { expect, onTestFinished } from 'vitest'
import { REQUESTS_PER_SECOND } from '../../src/protocol/limits.ts'
import { openImageHost, type RemoteOptions } from '../../src/remote/client.ts'
import type { HostFailure, ImageHost, Outcome } from '../../src/remote/host.ts'
import { systemClock } from './system-clock.ts'

export const API_KEY = 'key-0123456789-secret'
/** The credential in every upload address of these tests. */
export const TOKEN = 'token-9876543210-secret'

export const never = new AbortController().signal

/**
 * A client of the host at `origin`, closed after the test. It tries each request once, unless told otherwise.
 */
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
  onTestFinished(() => host.close())
  return host
}

export async function successOf<T>(outcome: Promise<Outcome<T>>): Promise<T> {
  const result = await outcome
  if (!result.ok) throw new Error(`${result.failure.code}: ${result.failure.message}`)
  return result.value
}

/** The failure of a call; none of these tests may have a secret in one, or more than a line. */
export async function failureOf(outcome: Promise<Outcome<unknown>>): Promise<HostFailure> {
  const result = await outcome
  if (result.ok) throw new Error('it succeeded')
  const text = JSON.stringify(result.failure)
  expect(text).not.toContain(API_KEY)
  expect(text).not.toContain(TOKEN)
  expect(result.failure.message).toMatch(/^[^\p{Cc}]+$/u)
  return result.failure
}
