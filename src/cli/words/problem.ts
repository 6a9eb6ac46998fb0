import type { Config } from '../../config/schema.ts'
import { readRemedy } from '../../words/system-errors.ts'
import { EXIT } from '../exit-codes.ts'
import { printable } from './wording.ts'

/** An error that a person can correct. Its message says in one line what is wrong, where, and what to do. */
export class Problem extends Error {
  override name = 'Problem'
  readonly exitCode: number

  constructor(exitCode: number, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

const EXIT_OF: Record<string, number> = {
  CONFIG: EXIT.usage,
  NOT_POSSIBLE: EXIT.usage,
  PAUSED: EXIT.left,
  LEFT: EXIT.left,
  DAEMON_ENDED: EXIT.left,
  OTHER_CONFIG: EXIT.locked,
  OTHER_VERSION: EXIT.locked,
  NOT_UNDERSTOOD: EXIT.locked,
  STATE_OTHER_HOST: EXIT.usage,
  STATE_OTHER_ALBUM: EXIT.usage,
  STATE_OTHER_FOLDER: EXIT.usage,
  LOCKED: EXIT.locked,
  HOST_DATA_IN_USE: EXIT.locked,
  STATE_NEWER: EXIT.usage,
  STATE_DAMAGED: EXIT.unexpected,
  STATE_FULL: EXIT.unexpected,
  STATE_BUSY: EXIT.unexpected,
  STATE_REPLACED: EXIT.unexpected,
  STATE_UNWRITABLE: EXIT.unexpected,
  STATE_NOT_MIGRATED: EXIT.unexpected,
  STATE_UNREADABLE: EXIT.usage,
}

/** The line and the exit code for an error. */
export function describeError(error: unknown): { exitCode: number; lines: string } {
  if (error instanceof Problem) return { exitCode: error.exitCode, lines: error.message }
  if (!(error instanceof Error)) return { exitCode: EXIT.unexpected, lines: String(error) }
  const code = (error as { code?: string }).code
  // Errors of the embedded host.
  if (code === 'SQLITE_FULL')
    return {
      exitCode: EXIT.unexpected,
      lines: "the disk that holds the host's data is full; make room, then start again",
    }
  if (code === 'EMFILE' || code === 'ENFILE')
    return { exitCode: EXIT.unexpected, lines: `${error.message}; ${readRemedy(code)}` }
  // A message may repeat what a person typed, so control characters are escaped.
  if (code === 'NOT_POSSIBLE') return { exitCode: EXIT.usage, lines: printable(error.message) }
  const known = code === undefined ? undefined : EXIT_OF[code]
  if (known !== undefined) return { exitCode: known, lines: error.message }
  return { exitCode: EXIT.unexpected, lines: `unexpected: ${error.message}${code ? ` (${code})` : ''}` }
}

/** For commands that look into the state without opening it for work: says on standard error what is wrong with it. */
export async function sayStateProblem({ state_dir }: Config): Promise<void> {
  const { stateProblem } = await import('../../daemon/state/state-problem.ts')
  const problem = stateProblem(state_dir)
  if (problem) process.stderr.write(`albumd: ${problem}\n`)
}
