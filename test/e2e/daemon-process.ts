import { expect } from 'vitest'
import { type Process, startAlbumd } from './albumd-process.ts'
import type { Stage } from './stage.ts'

/** One line of its log. */
export interface Logged {
  event: string
  path?: string
  [field: string]: unknown
}

/** `albumd run` as its own process. */
export interface DaemonProcess extends Process {
  events(): Logged[]
  /** The paths that events of this name told of, in their order. */
  paths(event: string): string[]
  /** Waits for so many events of this name, and answers the last. */
  told(event: string, times?: number): Promise<Logged>
  /** SIGTERM. Answers the exit code; null where a signal has ended it. */
  stop(): Promise<number | null>
}

export function startDaemon(stage: Stage, args: string[] = [], env: NodeJS.ProcessEnv = {}): DaemonProcess {
  const daemon = startAlbumd(stage, ['run', ...args], { env })
  const events = () =>
    daemon
      .out()
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as Logged)
  return {
    ...daemon,
    events,
    paths: event => events().flatMap(told => (told.event === event ? [told.path ?? ''] : [])),
    async told(event, times = 1) {
      const all = () => events().filter(told => told.event === event)
      await expect.poll(() => all().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(times)
      return all().at(-1)!
    },
    async stop() {
      daemon.kill('SIGTERM')
      return (await daemon.ended).code
    },
  }
}
