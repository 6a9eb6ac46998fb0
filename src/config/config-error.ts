import { printable } from '../words/text.ts'

/** The path of a key in the file: names of keys, and numbers of list entries. Empty for the whole config. */
export type KeyPath = readonly PropertyKey[]

/** A mistake in the configuration. A field is null when it is not known: a key from the environment has no line. */
export interface Problem {
  file: string | null
  /** Both count from 1. */
  line: number | null
  column: number | null
  /** The key, such as `mirrors[0].album`. Null when the whole file is meant. */
  key: string | null
  /** What is wrong and what would be right. The message never holds a secret. */
  message: string
}

export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly code = 'CONFIG'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemLine).join('\n'))
    this.problems = problems
  }
}

export function problemLine({ file, line, column, key, message }: Problem): string {
  const position = [file, line, column].filter(part => part !== null).join(':')
  return [position, key, message].filter(Boolean).join(': ')
}

export function unplaced(file: string | null, key: string | null, message: string): Problem {
  return { file, line: null, column: null, key, message }
}

export function keyText(path: KeyPath): string | null {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += (text && '.') + visible(String(step))
  }
  return text || null
}

const MOST_SHOWN = 80

/** A text of a file for one line of a terminal: shortened, and without control characters. */
export function visible(text: string): string {
  const short = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
  return printable(short)
}

/** The known name that a person most likely meant, or null. For mistyped config keys, commands and options. */
export function likelyKey(written: string, known: readonly string[]): string | null {
  const likely = known.flatMap(key => {
    // A word that is the beginning of a key is near the key, for example `api_key` and `api_key_file`.
    const isBegun = written.length > 2 && key.startsWith(written)
    const distance = isBegun ? 1 : editDistance(written, key)
    // How many letters may be wrong: a third; two in a key of 4 or 5, because swapped letters are a distance of 2; half in a
    // shorter key.
    return distance <= Math.max(key.length / 3, Math.min(key.length / 2, 2)) ? [{ key, distance }] : []
  })
  return likely.sort((one, other) => one.distance - other.distance)[0]?.key ?? null
}

function editDistance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const replaced = above[column - 1]! + (one[row - 1] === other[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, above[column]! + 1, current[column - 1]! + 1))
    }
    above = current
  }
  return above[other.length]!
}
