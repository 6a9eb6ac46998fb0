import { type ChildProcess, fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { orNull } from './or-null.ts'

const WITHIN_MS = 60_000
/** How long the process waits for the next task before it ends. */
const IDLE_MS = 30_000
/** Starts Node in the shell's place, with a limit of its memory in KiB and without dumps, which would hold a picture. */
const LIMITED = (kib: number) => ['-c', `ulimit -c 0; ulimit -d ${kib}; exec "$0" "$@"`, process.execPath]

/** How a process has failed, which has then ended. */
export class WorkerFailure extends Error {
  override name = 'WorkerFailure'
  readonly code: 'too_slow' | 'ended'

  constructor(code: WorkerFailure['code'], how: string) {
    super(how)
    this.code = code
  }
}

export interface WorkerOptions {
  withinMs?: number
  idleMs?: number
  /** The most memory in KiB, with all that Node reserves for itself. */
  memory?: number
}

/** Does one thing after the other. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work)
    this.#last = done.catch(() => undefined)
    return done
  }
}

/** A process that decodes pictures, because a decoder may take all memory and its fault ends the process. It does one task after
 * the other, is started when needed, and ended when it has nothing to do. */
export class WorkerProcess<Task extends object, Answer> {
  readonly #file: string
  readonly #options: WorkerOptions
  readonly #turns = new Turns()
  #child: ChildProcess | null = null
  #idle: NodeJS.Timeout | undefined

  /** `file`: what the process runs, which calls `answerTasks`. */
  constructor(file: URL, options: WorkerOptions = {}) {
    this.#file = fileURLToPath(file)
    this.#options = options
  }

  /** Rejects with a `WorkerFailure` alone. */
  ask(task: Task): Promise<Answer> {
    return this.#turns.take(() => this.#ask(task))
  }

  stop(): void {
    clearTimeout(this.#idle)
    this.#child?.kill('SIGKILL')
    this.#child = null
  }

  #ask(task: Task): Promise<Answer> {
    const { withinMs = WITHIN_MS, idleMs = IDLE_MS } = this.#options
    clearTimeout(this.#idle)
    this.#child ??= this.#start()
    const child = this.#child
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const fail = (code: WorkerFailure['code'], how: string) => {
      if (this.#child === child) this.stop()
      reject(new WorkerFailure(code, how))
    }
    const ended = (code: number | null, signal: string | null) => fail('ended', signal ?? `exit ${code}`)
    const limit = setTimeout(() => fail('too_slow', `${withinMs / 1000} s`), withinMs)
    child.once('message', answer => resolve(answer as Answer)).once('exit', ended)
    child.send(task, error => error && fail('ended', error.message))
    return promise.finally(() => {
      clearTimeout(limit)
      child.removeAllListeners('message').off('exit', ended)
      this.#idle = setTimeout(() => this.stop(), idleMs).unref()
    })
  }

  /** Starts the child with an empty environment, because this process's may hold the key. */
  #start(): ChildProcess {
    const { memory } = this.#options
    const child = fork(this.#file, {
      env: {},
      ...(memory === undefined ? { execArgv: [] } : { execPath: '/bin/sh', execArgv: LIMITED(memory) }),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    child.once('exit', () => {
      if (this.#child === child) this.#child = null
    })
    child.on('error', () => this.stop())
    child.unref()
    child.channel?.unref()
    return child
  }
}

/** What the process itself does: it yields to all others, in time and in memory. */
export function answerTasks<Task, Answer>(work: (task: Task) => Promise<Answer>): void {
  // A sandbox may forbid both.
  orNull(() => setPriority(10))
  orNull(() => writeFileSync('/proc/self/oom_score_adj', '1000'))
  process.on('message', async (task: Task) => process.send!(await work(task)))
}
