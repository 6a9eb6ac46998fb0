import type { z } from 'zod'
import { reloadCommand } from '../../config/config-file.ts'
import type { Config } from '../../config/schema.ts'
import type { EmitSpoken } from '../../sync/pass-events.ts'
import type { Interruption, PassReport } from '../../sync/pass-request.ts'
import { fullPath, isAtOrBelow } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { because, inWords } from '../../words/reasons.ts'
import type { Engine, PassOptions } from '../engine/engine.ts'
import { fingerprintOf } from '../state/claim.ts'

export interface CommandOutput {
  emit: EmitSpoken
  say(line: string): void
  /** Called when `done` of all `albums` are compared. */
  progress(done: number, albums: number): void
}

/** What a command works with. The daemon's loop provides it, and so does a one-shot command that has locked the state. So a
 * command does the same in both. While a command works, no other command and no pass touches the state, except while the
 * command waits for `pass` or `giveWay`. */
export interface CommandContext {
  config: Config
  synced: Synced
  /** Only a command with `needsHost` may call this. */
  engine(): Engine
  interruption: Interruption
  output: Pick<CommandOutput, 'progress'>
  /** Makes a complete pass over all mirrors, or only the part that the options name. */
  pass(options?: PassOptions): Promise<PassReport>
  /** Whether other work waits. A command that takes long asks this again and again, and then calls `giveWay`. */
  othersWait(): boolean
  giveWay(): Promise<void>
}

/** A command of a person, as the daemon or a one-shot command carries it out. Request and result are JSON. */
export interface Command<Request, Result> {
  /** The schema of the request. zod is a parameter, because only a daemon reads requests and loads it. */
  request(zod: typeof z): z.ZodType<Request>
  needsHost?: boolean
  /** The command only records something. So it does not wait for the pass under way, and the asker may have another config. */
  atOnce?: boolean
  /** The pass under way need not end early after such a command. */
  isSilent?: boolean
  /** Called when a daemon is given the command, before the command's turn. */
  given?(engine: Engine): void
  carryOut(context: CommandContext, request: Request): Promise<Result>
}

/** The error of a command that can't be carried out, or not now. `code`: undefined for an error that is a bug. */
export class Refused extends Error {
  override name = 'Refused'
  readonly code: string | undefined

  constructor(code: string | undefined, message: string) {
    super(message)
    this.code = code
  }
}

/** Throws Refused where the daemon has another config. `taken`: its fingerprint, or null. `pid`: the daemon's, or null. */
export function refuseOtherConfig(config: Config, taken: string | null, pid: number | null): void {
  if (taken === null || taken === fingerprintOf(config)) return
  const again = pid === null ? '' : ` (${reloadCommand(pid)})`
  throw new Refused(
    'OTHER_CONFIG',
    `The albumd that has the state in ${config.state_dir} runs with another config. Let it read the config again${again}, or name the one that it runs with`,
  )
}

/** The error of a command that asks for something impossible. The message says what a person can do instead. */
export class NotPossible extends Refused {
  constructor(message: string, code: 'NOT_POSSIBLE' | 'NOT_READY' | 'PAUSED' = 'NOT_POSSIBLE') {
    super(code, message)
  }
}

/** Throws NotPossible where a relative path means something in several mirrors. `mirrors`: the mirrors in which it does. */
export function refuseSeveral(path: string | undefined, mirrors: readonly string[]): void {
  const several = [...new Set(mirrors)]
  if (path === undefined || path.startsWith('/') || several.length < 2) return
  throw new NotPossible(inWords(because('in_several_mirrors', { path, folders: several.join(', ') })))
}

/** Whether a path below a mirror's `folder` is at or below `wanted`: absolute, below the folder, or undefined for all. */
export function isMeant(folder: string, path: string, wanted: string | undefined): boolean {
  return wanted === undefined || isAtOrBelow(path, wanted) || isAtOrBelow(fullPath(folder, path), wanted)
}
