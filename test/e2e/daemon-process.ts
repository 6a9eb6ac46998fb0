import { spawn } from 'node:child_process'
import { expect, onTestFinished } from 'vitest'
import { PROGRAM, type Stage } from './stage.ts'

/** One line of its log. */
export interface Logged {
  event: string
  path?: string
  [field: string]: unknown
}

/** `albumd run` as its own process. */
export interface DaemonProcess {
  pid: number
  events(): Logged[]
  out(): string
  err(): string
  /** Waits for so many events of this name, and answers the last. */
  told(event: string, times?: number): Promise<Logged>
  kill(signal: NodeJS.Signals): void
  /** The exit code; null for one that a signal has ended. */
  ended: Promise<number | null>
  /** SIGTERM. Answers the exit code. */
  stop(): Promise<number | null>
}

export function startDaemon(stage: Stage, args: string[] = [], env: NodeJS.ProcessEnv = {}): DaemonProcess {
  const child = spawn(process.execPath, [PROGRAM, 'run', '--config', stage.config, ...args], {
    cwd: stage.home,
    env: { ...process.env, HOME: stage.home, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let out = ''
  let err = ''
  child.stdout.on('data', chunk => {
    out += chunk
  })
  child.stderr.on('data', chunk => {
    err += chunk
  })
  const events = () =>
    out
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as Logged)
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  return {
    pid: child.pid!,
    events,
    out: () => out,
    err: () => err,
    async told(event, times = 1) {
      const all = () => events().filter(told => told.event === event)
      await expect.poll(() => all().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(times)
      return all().at(-1)!
    },
    kill: signal => void child.kill(signal),
    ended,
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}
