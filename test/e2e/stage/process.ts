import { spawn } from 'node:child_process'
import { expect, onTestFinished } from 'vitest'
import { enter, environmentIn, exitCodeHere, PROGRAM, type Run, type Stage } from './stage.ts'

/** The program as a process that a test may kill. Its end is awaited with it. */
export interface Process {
  pid: number
  /** Resolves once it is gone. `code` is null where a signal ended it. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  kill(signal: NodeJS.Signals): void
  out(): string
  err(): string
}

/** `preload`: a module that Node takes in before the program. `through`: a command that runs it. */
export function startAlbumd(
  stage: Pick<Stage, 'home' | 'config'>,
  args: readonly string[],
  {
    preload,
    through = [],
    env,
  }: { preload?: string; through?: readonly string[]; env?: NodeJS.ProcessEnv } = {},
): Process {
  const imports = preload === undefined ? [] : ['--import', preload]
  const line = [...through, process.execPath, ...imports, PROGRAM, ...args, '--config', stage.config]
  const child = spawn(line[0]!, line.slice(1), {
    cwd: stage.home,
    env: { ...environmentIn(stage.home), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
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
  return {
    pid: child.pid!,
    ended: new Promise(resolve => child.once('close', (code, signal) => resolve({ code, signal }))),
    kill: signal => void child.kill(signal),
    out: () => out,
    err: () => err,
  }
}

/** The same stage, its program run through a command, or in another environment. */
export function stageThrough<S extends Stage>(
  stage: S,
  how: { through?: readonly string[]; env?: NodeJS.ProcessEnv },
): S {
  const albumd = async (...args: string[]): Promise<Run> => {
    const child = startAlbumd(stage, args, how)
    const { code } = await child.ended
    return { code: code ?? -1, out: child.out(), err: child.err() }
  }
  const json: Stage['json'] = async (...args) => JSON.parse((await albumd(...args, '--json')).out)
  return {
    ...stage,
    albumd,
    here: albumd,
    sync: (...args) => albumd('sync', ...args),
    json,
    status: () => json('status'),
    pass: () => json('sync'),
  }
}

/** One line of its log. */
export interface Logged {
  event: string
  path?: string
  [field: string]: unknown
}

/** A running `albumd run`. */
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
  return daemonOf(startAlbumd(stage, ['run', ...args], { env }))
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** `albumd run` in this process, for tests of what the daemon does: the start of a process costs several times as much.
 * Answers once the daemon has started. A signal that the daemon handles goes to the daemon alone. */
export async function daemonHere(stage: Stage, args: readonly string[] = []): Promise<DaemonProcess> {
  const { said, leave } = enter(stage.home, {})
  const handled = new Map<NodeJS.Signals, NodeJS.SignalsListener[]>()
  const others = new Set<unknown>(SIGNALS.flatMap(signal => process.listeners(signal)))
  let isOver = false
  const ended = exitCodeHere(['run', ...args, '--config', stage.config]).then(code => {
    isOver = true
    return { code, signal: null }
  })
  try {
    const hasStarted = () => isOver || said.stdout.includes('"event":"started"')
    await expect.poll(hasStarted, { interval: 5 }).toBe(true)
  } finally {
    leave()
  }
  for (const signal of SIGNALS)
    handled.set(
      signal,
      process.listeners(signal).filter(listener => !others.has(listener)),
    )
  const kill = (signal: NodeJS.Signals) => {
    if (isOver) return
    for (const listener of handled.get(signal)!) listener(signal)
  }
  onTestFinished(async () => {
    kill('SIGTERM')
    await ended
  })
  return daemonOf({ pid: process.pid, ended, kill, out: () => said.stdout, err: () => said.stderr })
}

function daemonOf(daemon: Process): DaemonProcess {
  const events = () =>
    daemon
      .out()
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as Logged)
  return {
    ...daemon,
    events,
    paths: event => events().flatMap(emitted => (emitted.event === event ? [emitted.path ?? ''] : [])),
    async told(event, times = 1) {
      const all = () => events().filter(emitted => emitted.event === event)
      await expect.poll(() => all().length).toBeGreaterThanOrEqual(times)
      return all().at(-1)!
    },
    async stop() {
      daemon.kill('SIGTERM')
      return (await daemon.ended).code
    },
  }
}
