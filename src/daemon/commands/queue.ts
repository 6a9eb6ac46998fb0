import type { Config } from '../../config/schema.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { StateError } from '../../synced/state-error.ts'
import type { Synced } from '../../synced/synced.ts'
import { Bell } from '../bell.ts'
import type { Engine } from '../engine/engine.ts'
import {
  type Command,
  type CommandContext,
  type CommandOutput,
  Refused,
  refuseOtherConfig,
} from './command.ts'

export interface Session {
  config: Config
  synced: Synced
  engine: Engine
  interruption: Interruption
  loop: Pick<CommandContext, 'pass' | 'othersWait' | 'giveWay'>
  /** Turns an error of the state into a StateError; see `State.failed`. */
  failed(error: unknown): unknown
}

export const ENDED = new Refused(
  'DAEMON_ENDED',
  'The daemon was stopped before this was done. Run the command again',
)
/** The reason with which waiting commands are refused when the session ends because config or key was replaced. */
export const RENEWED = new Refused(
  'DAEMON_ENDED',
  'The daemon took another config or key before this was done. Run the command again',
)

export interface Asker {
  output?: CommandOutput
  /** Aborted when the asker has gone. A command that has not begun is then dropped. */
  left?: AbortSignal
  /** The fingerprint of the asker's config. A session with another config refuses the command, unless the command is `atOnce`. */
  config?: string | null
  taken?: () => void
  begun?: () => void
}

interface QueuedCommand {
  start(): Promise<void>
  refuse(why: Error): void
  left: AbortSignal | undefined
  output: CommandOutput
}

const SILENT: CommandOutput = { emit() {}, say() {}, progress() {} }

/** The commands given to a running daemon. They are carried out between passes, because the state must not change during a
 * pass. */
export class CommandQueue {
  #session: Session | null = null
  /** Why commands were refused last. Null: none was refused, or a session was opened since. */
  #closed: Refused | null = null
  readonly #queue: QueuedCommand[] = []
  readonly #begun = new Set<QueuedCommand>()
  readonly #asked = new Bell()
  #stateError: StateError | null = null
  /** Called before a command that sends requests begins to wait, so that the key is read again first. */
  renewKey: () => Promise<void> = async () => {}

  open(session: Session): void {
    this.#closed = null
    this.#session = session
  }

  leave(): void {
    this.#session = null
  }

  /** Refuses the commands that wait. After the state failed, a new command ends the pause before the next try: see `asked`. */
  close(why: Refused): void {
    this.#closed = why
    this.#asked.heard()
    for (const command of this.#queue.splice(0)) command.refuse(why)
  }

  get isClosed(): boolean {
    return this.#closed !== null
  }

  get session(): Session | null {
    return this.#session
  }

  /** Aborted while a command waits. Then the pass under way ends early, and neither loop nor supervisor rests. */
  get asked(): AbortSignal {
    return this.#asked.signal
  }

  async ask<Request, Result>(
    { carryOut, given, atOnce, isSilent, needsHost }: Omit<Command<Request, Result>, 'request'>,
    request: Request,
    { output = SILENT, left, config: theirs = null, taken = () => {}, begun = () => {} }: Asker = {},
  ): Promise<Result> {
    // Reads config and key again first, so that the command is carried out with them.
    if (needsHost || theirs !== null) await this.renewKey()
    const refuseOther = ({ config }: Session) => {
      if (!atOnce) refuseOtherConfig(config, theirs, process.pid)
    }
    // A refusal here does not end the pass under way. A session that ends is not asked: the next may have the asker's config.
    if (this.#session && !this.#session.interruption.stop.aborted) refuseOther(this.#session)
    taken()
    if (this.#session) given?.(this.#session.engine)
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const start = async () => {
      const { failed, engine, loop, ...session } = this.#session!
      begun()
      try {
        refuseOther(this.#session!)
        resolve(await carryOut({ ...session, ...loop, engine: () => engine, output }, request))
      } catch (error) {
        const why = failed(error)
        reject(why)
        // After an error of the state, nothing in memory can be trusted. `carryOut` throws the error, which ends the loop.
        if (why instanceof StateError) this.#stateError = why
      }
    }
    if (this.#closed?.code === ENDED.code) reject(this.#closed)
    else if (atOnce && this.#session) void start().then(() => isSilent || this.#asked.ring())
    else {
      this.#queue.push({ start, refuse: reject, left, output })
      this.#asked.ring()
    }
    return promise
  }

  /** Carries out the queued commands: between passes, or while a command waits for a pass of its own. Throws StateError. */
  async carryOut(): Promise<void> {
    for (;;) {
      const command = this.#queue.shift()
      if (this.#queue.length === 0) this.#asked.heard()
      if (command === undefined) break
      if (command.left?.aborted) continue
      this.#begun.add(command)
      await command.start()
      this.#begun.delete(command)
    }
    const error = this.#stateError
    this.#stateError = null
    if (error) throw error
  }

  readonly emit = (emitted: SpokenEvent): void => {
    for (const { output } of this.#begun) output.emit(emitted)
  }
}
