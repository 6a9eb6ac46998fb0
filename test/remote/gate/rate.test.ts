import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { REQUESTS_PER_SECOND } from '../../../src/protocol/limits.ts'
import type { EarlierRequests } from '../../../src/remote/gate/rate-window.ts'
import { bytesOf, clientOf, inMemory, never, successOf } from '../client-of.ts'
import { bodyOf, EMPTY_PAGE, failure, json, serve } from '../serve.ts'

/** Tells a test server when a request left this process, in milliseconds of `performance.now()`. On a busy machine the
 * server may get requests together that left one after the other. */
function watchDepartures(): (request: IncomingMessage) => number {
  const left = new Map<number, number>()
  const onHeaders = (message: unknown) =>
    void left.set((message as { socket: Socket }).socket.localPort!, performance.now())
  subscribe('undici:client:sendHeaders', onHeaders)
  onTestFinished(() => void unsubscribe('undici:client:sendHeaders', onHeaders))
  return request => left.get(request.socket.remotePort!)!
}

/** Admits a request when fewer than `limit` requests were admitted in the second before it left. */
function strictSecond(limit: number) {
  const admitted: number[] = []
  return (left: number) => {
    const fits = admitted.filter(at => Math.abs(at - left) < 1000).length < limit
    if (fits) admitted.push(left)
    return fits
  }
}

test('a host with a strict sliding second never has to refuse, whichever endpoints are busy', async () => {
  const leftAt = watchDepartures()
  const lists = strictSecond(REQUESTS_PER_SECOND.list)
  const sends = strictSecond(REQUESTS_PER_SECOND.send)
  const deletes = strictSecond(REQUESTS_PER_SECOND.delete)
  const refusals: string[] = []
  const origin = await serve(async (request, response) => {
    const admits = request.method === 'GET' ? lists : request.method === 'DELETE' ? deletes : sends
    const fits = admits(leftAt(request))
    await bodyOf(request)
    if (!fits) {
      refusals.push(request.method!)
      return failure(response, 429, 'RATE_LIMITED')
    }
    const sent = { message: 'deleted', image_id: 'I', cdn_url: 'https://c.example/i/I' }
    json(response, 200, { success: true, ...(request.method === 'GET' ? { data: EMPTY_PAGE } : sent) })
  })
  const host = clientOf(origin, { patience: { attempts: 4, maxDelayMs: 1000 } })
  const credential = { uploadUrl: `${origin}/up/1`, cdnUrl: null, imageId: null }
  const times = <T>(count: number, make: () => Promise<T>) => Array.from({ length: count }, make)
  await Promise.all([
    ...times(60, () => successOf(host.list(null, 1, never))),
    ...times(60, () => successOf(host.send(credential, inMemory(bytesOf(20_000)), never))),
    ...times(10, () => successOf(host.deleteImage('x', never))),
  ])
  expect(refusals).toEqual([])
})

test('a new process that knows the requests of the process before makes no burst', async () => {
  const leftAt = watchDepartures()
  const lists = strictSecond(REQUESTS_PER_SECOND.delete)
  const refusals: number[] = []
  const origin = await serve((request, response) => {
    if (lists(leftAt(request))) json(response, 200, { success: true, message: 'deleted' })
    else failure(response, 429, 'RATE_LIMITED')
  })
  const onRequest = ({ status }: { status: number | null }) => status === 429 && refusals.push(status)
  let earlier: EarlierRequests = null
  for (let process = 0; process < 3; process++) {
    const host = clientOf(origin, { earlier, onRequest })
    await Promise.all([1, 2, 3].map(() => successOf(host.deleteImage('x', never))))
    earlier = await host.close()
  }
  expect(refusals).toEqual([])
})
