import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

/** Without redis-server these tests are left out, but never where everything must be tested. */
export const noStore = !hasRedis() && !process.env.CI

function hasRedis(): boolean {
  try {
    execFileSync('redis-server', ['--version'])
    return true
  } catch {
    return false
  }
}

export interface RealStore {
  port: number
  url: string
  /** Sends one command, with its words, and answers the first line of the reply. */
  say(...words: string[]): Promise<string>
  signal(name: NodeJS.Signals): void
  /** Ends the store with SIGKILL. */
  kill(): Promise<void>
  /** Starts the store again, empty, on the same port. */
  start(...options: string[]): Promise<void>
}

/** A redis-server of this test's own, which keeps nothing on the disk. */
export async function startStore(...options: string[]): Promise<RealStore> {
  const port = await freePort()
  let child: ChildProcess | null = null
  let password: string | null = null
  const store: RealStore = {
    port,
    url: `redis://127.0.0.1:${port}`,
    say: (...words) => ask(port, [...(password ? [['AUTH', password]] : []), words]),
    signal: name => void child?.kill(name),
    async kill() {
      if (!child) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      child = null
    },
    async start(...options) {
      const at = options.indexOf('--requirepass')
      password = at < 0 ? null : options[at + 1]!
      const quiet = ['--save', '', '--appendonly', 'no', '--bind', '127.0.0.1', '--port', `${port}`]
      child = spawn('redis-server', [...quiet, ...options], { stdio: 'ignore' })
      for (;;) {
        if ((await store.say('PING').catch(() => '')) === '+PONG') return
        if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
        await sleep(10)
      }
    },
  }
  onTestFinished(() => store.kill())
  await store.start(...options)
  return store
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Sends commands, and answers the first line of the last reply. */
async function ask(port: number, commands: string[][]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  try {
    let lines = ''
    socket.on('data', data => {
      lines += data
    })
    const text = (words: string[]) =>
      `*${words.length}\r\n${words.map(word => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`
    for (const words of commands) {
      lines = ''
      socket.write(text(words))
      while (!lines.includes('\r\n')) await once(socket, 'data')
    }
    return lines.split('\r\n')[0]!
  } finally {
    socket.destroy()
  }
}
