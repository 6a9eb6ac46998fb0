import { Agent, request } from 'undici'

const TIMEOUT_MS = 10_000

/**
 * Sends one GET request to the address, with `oldest_unsynced`: how long the oldest picture has waited, in seconds.
 * Answers what went wrong in one line, without the address, because the address is a secret. Null: the heartbeat
 * arrived.
 */
export async function sendHeartbeat(
  address: string,
  oldestUnsyncedMs: number,
  stop: AbortSignal,
  timeoutMs: number = TIMEOUT_MS,
): Promise<string | null> {
  const url = new URL(address)
  url.searchParams.set('oldest_unsynced', String(Math.floor(oldestUnsyncedMs / 1000)))
  const dispatcher = new Agent({ connections: 1 })
  const ended = AbortSignal.timeout(timeoutMs)
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      headers: { 'user-agent': 'albumd' },
      signal: AbortSignal.any([stop, ended]),
    })
    body.on('error', () => {})
    if (statusCode >= 200 && statusCode < 300) return null
    return statusCode < 400
      ? `it was redirected (${statusCode}); write the address that it leads to`
      : `the answer was ${statusCode}`
  } catch (error) {
    if (ended.aborted) return `no answer within ${timeoutMs / 1000} s`
    const { code } = error as { code?: unknown }
    return typeof code === 'string' ? code : 'it could not be sent'
  } finally {
    await dispatcher.destroy()
  }
}
