import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { startHost } from '../../src/host/embedded-host.ts'
import { nowMs } from '../measure/wait.ts'
import { type Answered, KEY, type ObservedHostOptions } from './observed-host.ts'

/** The process of `startObservedHost`. Node itself tells of requests, so nothing stands between. */
interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

const began = new WeakMap<IncomingMessage, number>()
let answered: Answered[] = []

subscribe('http.server.request.start', message => {
  began.set((message as Exchange).request, nowMs())
})
subscribe('http.server.response.finish', message => {
  const { request, response } = message as Exchange
  answered.push({
    method: request.method!,
    path: request.url!.split('?')[0]!,
    status: response.statusCode,
    bytes: Number(request.headers['content-length'] ?? 0),
    beganMs: began.get(request)!,
    endedMs: nowMs(),
  })
})

process.once('message', async ({ data, port, choices }: ObservedHostOptions) => {
  const host = await startHost({
    data,
    listen: { host: '127.0.0.1', port },
    apiKeys: [KEY],
    plan: 'flagship',
    tls: false,
    ...choices,
  })
  process.on('message', () => {
    process.send!({ seen: answered })
    answered = []
  })
  process.once('SIGTERM', () => void host.close().then(() => process.exit()))
  process.send!({ listening: { baseUrl: host.baseUrl } })
})
