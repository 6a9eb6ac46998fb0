import { once } from 'node:events'
import { Agent, request } from 'node:http'
import Bottleneck from 'bottleneck'
import { Redis } from 'ioredis'
import { RateLimiterQueue, RateLimiterRedis } from 'rate-limiter-flexible'
import { systemClock } from '../../src/protocol/clock.ts'
import { ENDPOINTS } from '../../src/protocol/endpoints.ts'
import { openGate } from '../../src/remote/gate/gate.ts'
import { NO_PACE } from '../../src/remote/gate/rate-window.ts'
import { openShared } from '../../src/shared/account.ts'

/*
 * One machine of the account: sends requests to the sink, as many as it is told, at the rate that it shares with others.
 * Arguments: what shares the rate, the sink's port, the store's port, the machine's name, how many requests, the rate.
 */

/** A machine has so many requests under way at a time, as `uploads.concurrency` has it. */
const CONCURRENCY = 8

const [kind = '', sink = '', storePort = '', name = '', total = '', rate = ''] = process.argv.slice(2)
const limit = Number(rate)
const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })
const url = `redis://127.0.0.1:${storePort}`

/** One request. `started` is called when it leaves. */
async function send(started: () => void): Promise<number> {
  const asking = request({ port: Number(sink), agent, headers: { 'x-machine': name } })
  const [socket] = await once(asking, 'socket')
  if (socket.connecting) await once(socket, 'connect')
  started()
  asking.end()
  const [answer] = await once(asking, 'response')
  answer.resume()
  await once(answer, 'end')
  return answer.statusCode
}

/** Answers a function that sends one request at its time. */
async function sharing(): Promise<{ go(): Promise<unknown>; end(): Promise<unknown> }> {
  const clock = systemClock
  if (kind === 'alone' || kind === 'albumd') {
    const shared =
      kind === 'alone'
        ? null
        : openShared({
            url,
            password: null,
            ca: null,
            baseUrl: 'bench',
            apiKey: 'bench',
            machine: { id: name, name },
            share: 1 / 8,
            usedToday: 0,
            clock,
          })
    const gate = openGate({
      requestsPerSecond: Object.fromEntries(ENDPOINTS.map(each => [each, limit])) as never,
      concurrency: CONCURRENCY,
      patience: { attempts: 4, maxDelayMs: 1000 },
      clock,
      windowOf: shared?.windowOf,
    })
    const never = new AbortController().signal
    return {
      go: () =>
        gate.pass('list', never, async started => ({
          outcome: { ok: true, value: null },
          status: await send(started),
          pace: NO_PACE,
        })),
      end: async () => {
        await gate.close()
        await shared?.close()
      },
    }
  }
  const client = new Redis(url, { maxRetriesPerRequest: null })
  const ask = () => send(() => {})
  if (kind === 'bottleneck') {
    const limiter = new Bottleneck({
      id: 'bench',
      datastore: 'ioredis',
      Redis,
      clientOptions: { port: Number(storePort) },
      maxConcurrent: CONCURRENCY,
      reservoir: limit,
      reservoirRefreshInterval: 1000,
      reservoirRefreshAmount: limit,
    })
    return {
      go: () => limiter.schedule(ask),
      end: async () => Promise.all([limiter.disconnect(), client.quit()]),
    }
  }
  const limiter = new RateLimiterRedis({
    storeClient: client,
    points: limit,
    duration: 1,
    keyPrefix: 'bench',
  })
  const queue = new RateLimiterQueue(limiter)
  return {
    go: async () => {
      await queue.removeTokens(1)
      await ask()
    },
    end: () => client.quit(),
  }
}

const { go, end } = await sharing()
let left = Number(total)
const work = async () => {
  while (left-- > 0) await go()
}
const began = process.cpuUsage()
await Promise.all(Array.from({ length: CONCURRENCY }, work))
const { user, system } = process.cpuUsage(began)
process.send?.({ cpuMs: (user + system) / 1000 })
await end()
agent.destroy()
process.disconnect?.()
