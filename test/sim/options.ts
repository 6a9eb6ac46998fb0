import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

export interface Options {
  seeds: number
  from: number
  /** One history alone, printed. */
  seed: number | null
  workers: number
}

/** Throws where the command line is not understood. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      workers: { type: 'string', default: String(availableParallelism()) },
    },
  })
  return {
    seeds: wholeNumber('seeds', values.seeds),
    from: wholeNumber('from', values.from),
    seed: values.seed === undefined ? null : wholeNumber('seed', values.seed),
    workers: Math.max(1, wholeNumber('workers', values.workers)),
  }
}

function wholeNumber(option: string, text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 0)
    throw new Error(`--${option} must be a whole number: ${text}`)
  return number
}
