import { spawn, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import { CLAIM } from '../../../src/shared/claim-scripts.ts'
import { openRedis } from '../../../src/shared/redis-store.ts'
import { keyPrefix, type Store, script } from '../../../src/shared/store.ts'
import { tempFolder } from '../../temp-folder.ts'

/** Whether this machine can run the store. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0

/** A real redis-server, which keeps nothing on the disk but a copy. */
export interface RedisServer {
  url: string
  /** Resolves once nothing answers any more. */
  stop(): Promise<void>
  /** Starts it again, empty. */
  start(): Promise<void>
  /** Keeps a copy of what it holds. */
  copy(): Promise<void>
  /** Starts it again with the copy. */
  putBack(): Promise<void>
  /** Sends a command. DEL: its keys are those of the account. */
  say(words: string[], account: { baseUrl: string; key: string }): Promise<void>
}

const COPY = 'copy.rdb'

export async function startRedis(): Promise<RedisServer> {
  const port = await freePort()
  let child: ReturnType<typeof spawn> | null = null
  const stop = async () => {
    const ended = child && new Promise(resolve => child!.once('close', resolve))
    child?.kill('SIGKILL')
    child = null
    await ended
  }
  const folder = tempFolder()
  const say = async ([command, ...words]: string[]) => {
    const redis = new Redis(url)
    await redis.call(command!, ...words).finally(() => redis.disconnect())
  }
  const putBack = async () => {
    const kept = ['--save', '', '--appendonly', 'no', '--dir', folder, '--dbfilename', COPY]
    const options = ['--port', String(port), '--bind', '127.0.0.1', ...kept]
    child = spawn('redis-server', options, { stdio: 'ignore' })
    const store = connect(url, '')
    while (!(await store.run(script('return 1'), [], [])).ok) await sleep(10)
    await store.close()
  }
  const start = () => {
    rmSync(join(folder, COPY), { force: true })
    return putBack()
  }
  const url = `redis://127.0.0.1:${port}`
  onTestFinished(stop)
  await start()
  return {
    url,
    stop,
    start,
    copy: () => say(['SAVE']),
    putBack,
    say: ([command, ...words], { baseUrl, key }) =>
      say([command!, ...words.map(word => (command === 'DEL' ? keyPrefix(baseUrl, key) + word : word))]),
  }
}

/** The store of an account, as its machines see it. */
export function storeOf(url: string, { baseUrl, key }: { baseUrl: string; key: string }): Store {
  return connect(url, keyPrefix(baseUrl, key))
}

/** A new store makes machines wait for the claims that it may have lost. This one is not new. */
export async function ageStore(
  { url }: Pick<RedisServer, 'url'>,
  account: { baseUrl: string; key: string },
): Promise<void> {
  const store = storeOf(url, account)
  await runAtLast(store, CLAIM, ['claims'], ['none', '', '', 0, 0, 0])
  await runAtLast(store, script(`return redis.call('HSET', KEYS[1], 'anew', 1)`), ['claims'], [])
  await store.close()
}

function connect(url: string, prefix: string): Store {
  return openRedis({ url, password: null, ca: null, prefix, name: 'test', now: () => performance.now() })
}

/** Runs a script once the connection is there. */
export async function runAtLast(store: Store, ...what: Parameters<Store['run']>): Promise<unknown> {
  for (;;) {
    const answer = await store.run(...what)
    if (answer.ok) return answer.value
    await sleep(10)
  }
}

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
