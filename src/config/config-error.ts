/** Where a key stands: names of mappings' keys, numbers of lists' entries. Empty for the whole config. */
export type KeyPath = readonly PropertyKey[]

/** One thing wrong with the configuration. What is not known (a key from the environment has no line) is null. */
export interface Problem {
  file: string | null
  /** Both count from 1. */
  line: number | null
  column: number | null
  /** As a person would write it: `mirrors[0].album`. Null where the whole file is meant. */
  key: string | null
  /** What is wrong and what would be right. Never a secret. */
  message: string
}

/** Everything that is wrong with the configuration. Its message has one line a problem. */
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
  const place = [file, line, column].filter(part => part !== null).join(':')
  return [place, key, message].filter(Boolean).join(': ')
}

/** A problem that no line of the file can be blamed for. */
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

/** Text out of a file, fit for one line of a terminal: short, and without what would steer it. */
export function visible(text: string): string {
  const short = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
  return short.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    char => `\\u{${char.codePointAt(0)?.toString(16)}}`,
  )
}
