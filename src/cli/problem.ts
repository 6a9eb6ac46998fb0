import type { Config } from '../config/schema.ts'
import { readRemedy } from '../words/system-errors.ts'
import { printable } from '../words/text.ts'

export const EXIT = {
  inSync: 0,
  unexpected: 1,
  usage: 2,
  /** Something is left to do: failed, uncertain or held files, quota, a guarded mirror, an unreachable host. */
  left: 3,
  /** Another albumd uses this state or one of its folders. */
  locked: 4,
  /** The host refused the key or the whole plan. */
  refused: 5,
} as const

export const EXIT_MEANINGS: Readonly<Record<number, string>> = {
  [EXIT.inSync]: 'done',
  [EXIT.unexpected]: 'unexpected failure, such as a full disk under the state',
  [EXIT.usage]: 'bad usage or config',
  [EXIT.left]: 'something is left, or paused',
  [EXIT.locked]: 'another albumd has this state or folder, or another machine this album',
  [EXIT.refused]: 'the host refused the key or the plan',
}

/** The exit codes for a command's help. Any command may fail unexpectedly. */
export function exitCodesInHelp(codes: readonly number[]): string {
  const all = [...new Set([...codes, EXIT.unexpected])].sort()
  return `Exit codes: ${all.map(code => `${code} ${EXIT_MEANINGS[code]}`).join(', ')}.`
}

/** An error that a person can correct. Its message says in one line what is wrong, where, and what to do. */
export class Problem extends Error {
  override name = 'Problem'
  readonly exitCode: number
  readonly code: string
  readonly beside: Beside

  constructor(
    message: string,
    exitCode: number = EXIT.usage,
    code = CODE_OF[exitCode]!,
    beside: Beside = {},
  ) {
    super(message)
    this.exitCode = exitCode
    this.code = code
    this.beside = beside
  }
}

/** What a program is told of an error beside its code: the path that is meant, and what keeps a picture from the host. */
interface Beside {
  path?: string
  cause?: string
}

/** The exit code for each error that a person can correct, by the error's code. All other errors are unexpected. */
export const EXIT_OF: Readonly<Record<string, number>> = {
  CONFIG: EXIT.usage,
  NOT_POSSIBLE: EXIT.usage,
  PAUSED: EXIT.left,
  LEFT: EXIT.left,
  HOST_REFUSED: EXIT.refused,
  DAEMON_ENDED: EXIT.left,
  OTHER_CONFIG: EXIT.locked,
  OTHER_VERSION: EXIT.locked,
  NOT_UNDERSTOOD: EXIT.locked,
  LOCKED: EXIT.locked,
  STORE_AWAY: EXIT.left,
  STATE_COPIED: EXIT.locked,
  HOST_DATA_IN_USE: EXIT.locked,
  STATE_OTHER_HOST: EXIT.usage,
  STATE_OTHER_ALBUM: EXIT.usage,
  STATE_OTHER_FOLDER: EXIT.usage,
  STATE_NEWER: EXIT.usage,
  STATE_UNREADABLE: EXIT.usage,
  NO_COPY: EXIT.usage,
}

/** The usual codes of a Problem in JSON, by its exit code. */
export const CODE_OF: Readonly<Record<number, string>> = {
  [EXIT.unexpected]: 'UNEXPECTED',
  [EXIT.usage]: 'USAGE',
  [EXIT.left]: 'LEFT',
  [EXIT.locked]: 'LOCKED',
  [EXIT.refused]: 'HOST_REFUSED',
}

/** The exit code for an error, its code and what stands beside the code for programs, and the lines for a person. */
export function describeError(error: unknown): {
  exitCode: number
  code: string
  lines: string
  beside?: Beside
} {
  if (error instanceof Problem) {
    const { exitCode, code, message: lines, beside } = error
    return { exitCode, code, lines, beside }
  }
  const { code = 'UNEXPECTED', message = String(error) } = error as { code?: string; message?: string }
  // A message may repeat what a person typed, so control characters are escaped.
  if (code === 'NOT_POSSIBLE') return { exitCode: EXIT.usage, code, lines: printable(message) }
  const known = EXIT_OF[code]
  if (known !== undefined) return { exitCode: known, code, lines: message }
  return { exitCode: EXIT.unexpected, code, lines: unexpected(code, message) }
}

function unexpected(code: string, message: string): string {
  if (code.startsWith('STATE_')) return message
  // Only the embedded host throws this error. A full disk of the state is STATE_FULL.
  if (code === 'SQLITE_FULL')
    return "the disk that holds the host's data is full; make room, then start again"
  if (code === 'EMFILE' || code === 'ENFILE') return `${message}; ${readRemedy(code)}`
  return `unexpected: ${message}${code === 'UNEXPECTED' ? '' : ` (${code})`}`
}

/** Says on standard error what is wrong with the state, for commands that only read the state. */
export async function sayStateProblem({ state_dir }: Config): Promise<void> {
  const { stateProblem } = await import('../daemon/state/state-problem.ts')
  const problem = stateProblem(state_dir)
  if (problem) process.stderr.write(`albumd: ${problem}\n`)
}
