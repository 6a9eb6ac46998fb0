import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import { CLAIM } from '../../src/shared/claim-scripts.ts'
import { openRedis } from '../../src/shared/redis-store.ts'
import { keyPrefix, type Store, script } from '../../src/shared/store.ts'
import { freePort } from '../free-port.ts'
import { tempFolder } from '../temp-folder.ts'

/** Without redis-server these tests are left out, but never where everything must be tested. */
export const noStore = !process.env.CI && spawnSync('redis-server', ['--version']).status !== 0

export interface RealStore {
  port: number
  url: string
  /** Sends one command, with its words, and resolves to the reply. */
  say(...words: string[]): Promise<unknown>
  signal(name: NodeJS.Signals): void
  /** Ends the store with SIGKILL. */
  kill(): Promise<void>
  /** Starts the store again, empty, on the same port. */
  start(...options: string[]): Promise<void>
  /** Keeps a copy of what the store holds. */
  copy(): Promise<unknown>
  /** Starts the store again with the copy. */
  putBack(): Promise<void>
}

const COPY = 'copy.rdb'

/** A redis-server of this test's own, which keeps nothing on the disk but a copy. */
export async function startStore(...options: string[]): Promise<RealStore> {
  const port = await freePort()
  const folder = tempFolder()
  let child: ChildProcess | null = null
  let password = ''
  const run = async (options: string[]) => {
    const at = options.indexOf('--requirepass')
    password = at < 0 ? '' : options[at + 1]!
    const kept = ['--save', '', '--appendonly', 'no', '--dir', folder, '--dbfilename', COPY]
    child = spawn('redis-server', [...kept, '--bind', '127.0.0.1', '--port', `${port}`, ...options], {
      stdio: 'ignore',
    })
    while ((await store.say('PING').catch(() => null)) === null) {
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
      await sleep(10)
    }
  }
  const store: RealStore = {
    port,
    url: `redis://127.0.0.1:${port}`,
    async say(command, ...words) {
      const redis = new Redis(port, {
        password,
        lazyConnect: true,
        enableReadyCheck: false,
        retryStrategy: () => null,
      })
      redis.on('error', () => {})
      await redis.connect()
      return redis.call(command!, ...words).finally(() => redis.disconnect())
    },
    signal: name => void child?.kill(name),
    async kill() {
      if (!child) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      child = null
    },
    start(...options) {
      rmSync(join(folder, COPY), { force: true })
      return run(options)
    },
    copy: () => store.say('SAVE'),
    putBack: () => run([]),
  }
  onTestFinished(() => store.kill())
  await store.start(...options)
  return store
}

export interface Account {
  baseUrl: string
  key: string
}

/** The store of an account, as its machines see it. */
export function storeOf(url: string, { baseUrl, key }: Account): Store {
  const prefix = keyPrefix(baseUrl, key)
  return openRedis({ url, password: null, ca: null, prefix, name: 'test', now: () => performance.now() })
}

/** A new store makes machines wait for the claims that it may have lost. This one is not new. */
export async function ageStore({ url }: Pick<RealStore, 'url'>, account: Account): Promise<void> {
  const store = storeOf(url, account)
  await runAtLast(store, CLAIM, ['claims'], ['none', '', '', 0, 0, 0])
  await runAtLast(store, script(`return redis.call('HSET', KEYS[1], 'anew', 1)`), ['claims'], [])
  await store.close()
}

/** Runs a script once the connection is there. */
export async function runAtLast(store: Store, ...what: Parameters<Store['run']>): Promise<unknown> {
  for (;;) {
    const answer = await store.run(...what)
    if (answer.ok) return answer.value
    await sleep(10)
  }
}

/** A way to the store. `cut`: what is sent from then on is lost, and no connection is closed. `end`: its connections end, as
 * those of a process that is killed. */
export async function openLine(port: number): Promise<{ url: string; cut(): void; end(): void }> {
  let isCut = false
  const connections = new Set<Socket>()
  const server = createServer(near => {
    const far = connect(port, '127.0.0.1')
    connections.add(far)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', data => void (isCut || to.write(data)))
      from.on('error', () => {})
      from.on('close', () => void (isCut || to.destroy()))
    }
    onTestFinished(() => {
      near.destroy()
      far.destroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const at = server.address() as { port: number }
  return {
    url: `redis://127.0.0.1:${at.port}`,
    cut() {
      isCut = true
    },
    end() {
      isCut = true
      for (const far of connections) far.destroy()
    },
  }
}
