import type { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import type { Interruption } from '../../sync/interruption.ts'
import type { Tell } from '../../sync/pass-events.ts'
import type { PassReport } from '../../sync/pass-request.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Engine, PassOptions } from '../loop/mirroring.ts'

/** How whoever asked hears of the work. */
export interface Hearing {
  tell: Tell
  /** Something that a person should know, in a line. */
  say(line: string): void
  /** So many of the albums were compared. */
  progress(done: number, albums: number): void
}

/**
 * What a deed works with. A command that has the state to itself and the daemon's loop both offer it, so that a deed is
 * the same whoever carries it out. The state is the deed's alone, but while it waits for `pass` or `giveWay`.
 */
export interface Means {
  config: Config
  synced: Synced
  /** Only for deeds that need the host. */
  engine(): Engine
  interruption: Interruption
  hearing: Pick<Hearing, 'progress'>
  /** A look at everything, and what follows from it, to its end. */
  pass(options?: PassOptions): Promise<PassReport>
  /** Whether something else should be done first: a deed that takes long asks between two steps. */
  othersWait(): boolean
  /** Lets it be done. */
  giveWay(): Promise<void>
}

/** One thing that a command does: what it is asked, and what it answers, both in JSON. */
export interface Deed<Request, Result> {
  request: z.ZodType<Request>
  /** Whether it asks the host for something. */
  needsHost: boolean
  /** It only writes down a word; it does not wait for what is under way. */
  atOnce?: boolean
  /** Whether it may be done under any config of this state: it looks at no mirror. */
  anyConfig?: boolean
  carryOut(means: Means, request: Request): Promise<Result>
}

/** Something that can't be done as it was asked; its message says what would be right. */
export class NotPossible extends Error {
  override name = 'NotPossible'
  readonly code: 'NOT_POSSIBLE' | 'PAUSED'

  constructor(message: string, code: NotPossible['code'] = 'NOT_POSSIBLE') {
    super(message)
    this.code = code
  }
}
