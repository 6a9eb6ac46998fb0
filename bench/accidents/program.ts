import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { isRoot, NOBODY } from './place.ts'

const running = new Set<Program>()
process.once('exit', () => {
  for (const program of running) program.signalAll('SIGKILL')
})
// A process that a signal ends tells no 'exit', and its programs would go on.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

/** A program that runs as an ordinary user, in a group of its own with what it starts. */
export class Program {
  readonly ended: Promise<number | null>
  readonly #child: ChildProcess
  readonly #log: string

  constructor(command: string, args: readonly string[], log: string, env: NodeJS.ProcessEnv) {
    this.#log = log
    const out = openSync(log, 'a')
    this.#child = spawn(command, args, {
      ...(isRoot && { uid: NOBODY, gid: NOBODY }),
      detached: true,
      cwd: '/',
      stdio: ['ignore', out, out],
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env },
    })
    closeSync(out)
    this.ended = once(this.#child, 'exit').then(([code]) => code)
    running.add(this)
    void this.ended.then(() => running.delete(this))
  }

  get runs(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Its exit code; null when a signal ended it. Whatever runs for longer is killed. */
  async endedWithin(seconds: number): Promise<number | null> {
    const late = setTimeout(() => this.signalAll('SIGKILL'), seconds * 1000)
    const code = await this.ended
    clearTimeout(late)
    return code
  }

  async stop(): Promise<void> {
    if (this.runs) this.signalAll('SIGTERM')
    await this.endedWithin(20)
  }

  /** SIGKILL to it and to what it has started. */
  async kill(): Promise<void> {
    this.signalAll('SIGKILL')
    await this.ended
  }

  said(): string {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : ''
  }

  signalAll(signal: 'SIGTERM' | 'SIGKILL'): void {
    try {
      process.kill(-this.#child.pid!, signal)
    } catch {
      // It has ended.
    }
  }
}
