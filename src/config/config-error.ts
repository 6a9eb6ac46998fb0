/** The path of a key in the file: names of keys, and numbers of list entries. Empty for the whole config. */
export type KeyPath = readonly PropertyKey[]

/** A mistake in the configuration. What is not known is null. An example: a key from the environment has no line. */
export interface Problem {
  file: string | null
  /** Both count from 1. */
  line: number | null
  column: number | null
  /** Such as `mirrors[0].album`. Null when the whole file is meant. */
  key: string | null
  /** What is wrong and what would be right. Never a secret. */
  message: string
}

/** All mistakes in the configuration. The message has one line for each. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly code = 'CONFIG'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemLine).join('\n'))
    this.problems = problems
  }
}

/** `albumd.yaml:12:5: mirrors[0].album: is missing, …` */
export function problemLine({ file, line, column, key, message }: Problem): string {
  const position = [file, line, column].filter(part => part !== null).join(':')
  return [position, key, message].filter(Boolean).join(': ')
}

/** A problem without a line in the file. */
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
  return short.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    char => `\\u{${char.codePointAt(0)?.toString(16)}}`,
  )
}
