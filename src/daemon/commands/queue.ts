import type { Config } from '../../config/schema.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { Interruption, PassReport } from '../../sync/pass-request.ts'
import { StateError } from '../../synced/state-error.ts'
import type { Synced } from '../../synced/synced.ts'
import { Bell } from '../background.ts'
import type { Engine, PassOptions } from '../engine/engine.ts'
import type { Command, CommandContext, CommandOutput } from './command.ts'

/** What the daemon has open while it works with one config: see loop/session.ts. */
export interface Session {
  config: Config
  synced: Synced
  engine: Engine
  interruption: Interruption
  /** Answers an error of the state as a StateError; see State. */
  failed(error: unknown): unknown
}

/** No command can be carried out now. `code`: DAEMON_ENDED, or the code of the error that keeps the state closed. */
export class NotNow extends Error {
  override name = 'NotNow'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** What the commands that wait for a pass need of the next pass. */
export interface PassNeeds {
  /** Whether a person waits for the pass. */
  asked: boolean
  /** Whether the pass must scan everything. */
  everything: boolean
  options: PassOptions
}

/** How whoever gave a command hears of it. The status page gives none of these, because it shows only the outcome. */
export interface Asker {
  output?: CommandOutput
  /** Aborted when the asker has gone. A command that has not begun is then dropped. */
  left?: AbortSignal
  /** Called when the command begins. */
  begun?: () => void
}

interface QueuedCommand {
  start(): Promise<void>
  refuse(why: Error): void
  left: AbortSignal | undefined
  output: CommandOutput
  /** Resolved when the command has ended, or waits for a pass. */
  rested: PromiseWithResolvers<void>
}

/** A command that waits for a pass. */
interface PassWaiter {
  command: QueuedCommand
  /** The options of the complete pass that it waits for. Null: any pass will do. */
  whole: PassOptions | null
  /** Whether a pass has begun that scans everything for it. */
  scanned: boolean
  goOn(report: PassReport): void
}

const SILENT: CommandOutput = { tell() {}, say() {}, progress() {} }

/**
 * The commands given to a running daemon. The loop carries them out one at a time between its passes, because the state
 * must not change under a pass. A command that needs a pass waits for the loop's next one.
 */
export class CommandQueue {
  #session: Session | null = null
  /** Why commands are refused. Null: they are carried out, at once or when a session is open again. */
  #closed: NotNow | null = null
  #queue: QueuedCommand[] = []
  #waiting: PassWaiter[] = []
  /** Begun and not ended. */
  readonly #open = new Set<QueuedCommand>()
  readonly #asked = new Bell()
  #stateError: StateError | null = null
  /** Wakes the daemon's loop. */
  onAsked: () => void = () => {}
  /** Whether the loop has a folder to scan. */
  isBusy: () => boolean = () => false

  /** From here on commands are carried out. */
  open(session: Session): void {
    this.#closed = null
    this.#session = session
  }

  /** Ends the session. Commands that have begun are refused; the others wait for the next session. */
  leave(why: NotNow): void {
    this.#session = null
    for (const command of this.#open) command.refuse(why)
    this.#open.clear()
    this.#waiting = []
  }

  /** Ends the session and refuses all commands until the next `open`. */
  close(why: NotNow): void {
    this.leave(why)
    this.#closed = why
    for (const command of this.#queue.splice(0)) command.refuse(why)
  }

  get session(): Session | null {
    return this.#session
  }

  /** Aborted while a command waits: the pass under way then ends early. */
  get asked(): AbortSignal {
    return this.#asked.signal
  }

  /** Ends the pass under way early and has the loop begin another. */
  interrupt(): void {
    this.#asked.ring()
    this.onAsked()
  }

  /** Resolves with the command's result. Rejects with NotNow, or with the command's error. */
  ask<Request, Result>(
    { carryOut, atOnce }: Pick<Command<Request, Result>, 'carryOut' | 'atOnce'>,
    request: Request,
    { output = SILENT, left, begun = () => {} }: Asker = {},
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const command: QueuedCommand = {
      output,
      left,
      rested: Promise.withResolvers(),
      refuse: reject,
      start: async () => {
        const { failed } = this.#session!
        begun()
        try {
          resolve(await carryOut(this.#contextOf(command), request))
        } catch (error) {
          const why = failed(error)
          reject(why)
          // The loop must end too, because after an error of the state what is in memory can't be trusted.
          if (why instanceof StateError) this.#stateError = why
        }
      },
    }
    if (this.#closed) reject(this.#closed)
    else if (atOnce && this.#session) void command.start().then(() => this.interrupt())
    else {
      this.#queue.push(command)
      this.interrupt()
    }
    return promise
  }

  /** Carries out the queued commands; the loop calls it between passes. Throws StateError where the state failed. */
  async carryOut(): Promise<void> {
    for (let command = this.#queue.shift(); command; command = this.#queue.shift()) {
      if (command.left?.aborted) continue
      this.#open.add(command)
      const begun = command
      void command.start().finally(() => {
        this.#open.delete(begun)
        begun.rested.resolve()
      })
      await command.rested.promise
    }
    this.#throwStateError()
    this.#asked.heard()
  }

  /** What the waiting commands need of the pass that begins now. */
  needs(): PassNeeds {
    const whole = this.#waiting.filter(waiting => waiting.whole !== null)
    const everything = whole.some(({ scanned }) => !scanned)
    for (const waiting of whole) waiting.scanned = true
    const pruneIgnored = whole.some(({ whole }) => whole?.pruneIgnored === true)
    return { asked: whole.length > 0, everything, options: { pruneIgnored } }
  }

  /** Whether a command waits for the next pass. */
  get awaitPass(): boolean {
    return this.#waiting.length > 0
  }

  /**
   * A pass has ended; the commands that waited for it go on. `whole`: the pass was not ended early. Throws StateError.
   */
  async passed(report: PassReport, whole: boolean): Promise<void> {
    const served = this.#waiting.filter(waiting => waiting.whole === null || (whole && waiting.scanned))
    this.#waiting = this.#waiting.filter(waiting => !served.includes(waiting))
    for (const { command, goOn } of served) {
      command.rested = Promise.withResolvers()
      goOn(report)
      await command.rested.promise
    }
    this.#throwStateError()
  }

  /** Shows an event of a pass to all commands that have begun. */
  readonly tell = (told: SpokenEvent): void => {
    for (const { output } of this.#open) output.tell(told)
  }

  #contextOf(command: QueuedCommand): CommandContext {
    const { config, synced, engine, interruption } = this.#session!
    return {
      config,
      synced,
      engine: () => engine,
      interruption,
      output: command.output,
      pass: (options = {}) => this.#passFor(command, options),
      othersWait: () => this.#asked.signal.aborted || this.isBusy(),
      giveWay: async () => void (await this.#passFor(command, null)),
    }
  }

  #passFor(command: QueuedCommand, whole: PassOptions | null): Promise<PassReport> {
    return new Promise(goOn => {
      this.#waiting.push({ command, whole, scanned: false, goOn })
      command.rested.resolve()
    })
  }

  #throwStateError(): void {
    const error = this.#stateError
    this.#stateError = null
    if (error) throw error
  }
}
