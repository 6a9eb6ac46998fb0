import type { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import type { TellSpoken } from '../../sync/pass-events.ts'
import type { Interruption, PassReport } from '../../sync/pass-request.ts'
import { fullPath, isAtOrBelow } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Engine, PassOptions } from '../engine/engine.ts'

/** What a command shows to the person who gave it, while it works. */
export interface CommandOutput {
  tell: TellSpoken
  /** One line for a person. */
  say(line: string): void
  /** `done` of `albums` are compared. */
  progress(done: number, albums: number): void
}

/**
 * What a command works with. Both the daemon's loop and a one-shot command that has locked the state provide it, so a
 * command does the same in either. No other command and no pass touches the state while a command works, except while
 * the command waits for `pass` or `giveWay`.
 */
export interface CommandContext {
  config: Config
  synced: Synced
  /** For a command with `needsHost`. */
  engine(): Engine
  interruption: Interruption
  output: Pick<CommandOutput, 'progress'>
  /** A complete pass over all mirrors. */
  pass(options?: PassOptions): Promise<PassReport>
  /** Whether other work waits. A command that takes long asks between two steps, and then calls `giveWay`. */
  othersWait(): boolean
  /** Lets the other work be done. Resolves after the next pass. */
  giveWay(): Promise<void>
}

/** A command of a person, as the daemon or a one-shot command carries it out. Request and result are JSON. */
export interface Command<Request, Result> {
  request: z.ZodType<Request>
  /** Whether it sends requests to the host. */
  needsHost?: boolean
  /**
   * Whether it only records something. Such a command does not wait for the pass under way, and is carried out also when
   * the daemon runs with another config of this state than the one who asks.
   */
  atOnce?: boolean
  carryOut(context: CommandContext, request: Request): Promise<Result>
}

/** A command can't be carried out, or not now. `code`: undefined for an error that nobody expects. */
export class Refused extends Error {
  override name = 'Refused'
  readonly code: string | undefined

  constructor(code: string | undefined, message: string) {
    super(message)
    this.code = code
  }
}

/** What was asked for can't be done. The message says what would be right. */
export class NotPossible extends Refused {
  constructor(message: string, code: 'NOT_POSSIBLE' | 'PAUSED' = 'NOT_POSSIBLE') {
    super(code, message)
  }
}

/**
 * Whether the path below a mirror's `folder` is `wanted` or lies below it. `wanted` is absolute or below the folder;
 * left out, everything is meant.
 */
export function isMeant(folder: string, path: string, wanted: string | undefined): boolean {
  return wanted === undefined || isAtOrBelow(path, wanted) || isAtOrBelow(fullPath(folder, path), wanted)
}
