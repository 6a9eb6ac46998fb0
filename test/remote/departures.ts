import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * When a request of this process left, in milliseconds of `performance.now()`, for the server that it came to: a busy
 * machine may hold requests that left apart, and hand them over together.
 */
export function watchDepartures(): (request: IncomingMessage) => number {
  const left = new Map<number, number>()
  const onHeaders = (message: unknown) =>
    void left.set((message as { socket: Socket }).socket.localPort!, performance.now())
  subscribe('undici:client:sendHeaders', onHeaders)
  onTestFinished(() => void unsubscribe('undici:client:sendHeaders', onHeaders))
  return request => left.get(request.socket.remotePort!)!
}
