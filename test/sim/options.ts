import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { KINDS, WIDE } from './histories/seeds.ts'

export interface Options {
  seeds: number
  from: number
  /** One history alone, printed. */
  seed: number | null
  workers: number
  /** Also tells what of the engine was run. */
  reach: boolean
  /** Plays every small world, and no history of a seed. */
  exhaust: boolean
}

export const USAGE = `npm run sim [-- OPTION…]

The simulation: histories of a disk, a host and people, each from a seed. Every hundredth is played twice and must go alike.
Ends with 1 where an invariant did not hold.

  --seeds N    so many histories (1000)
  --from N     the first seed (${WIDE}): from here on histories are of all kinds in turn. Each kind has seeds of its own
               too, from 1, ${KINDS.join(', ')} on
  --reach      also prints which lines and branches of the engine were run, and how often seldom states were seen
  --exhaust    every world of two pictures in one album within some faults and a crash, and no seeds
  --workers N  so many at once (one a core)
  --seed N     one history alone, printed whole or, where it fails, as the shortest one that fails alike
  --help       prints this`

/** Answers null where help is asked for. Throws, in one line, where the command line is not understood. */
export function readOptions(args: readonly string[]): Options | null {
  const values = parsed(args)
  if (values.help) return null
  return {
    seeds: wholeNumber('seeds', values.seeds),
    from: wholeNumber('from', values.from),
    seed: values.seed === undefined ? null : wholeNumber('seed', values.seed),
    workers: Math.max(1, wholeNumber('workers', values.workers)),
    reach: values.reach,
    exhaust: values.exhaust,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seeds: { type: 'string', default: '1000' },
        from: { type: 'string', default: String(WIDE) },
        seed: { type: 'string' },
        workers: { type: 'string', default: String(availableParallelism()) },
        exhaust: { type: 'boolean', default: false },
        reach: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    // What follows the first sentence fits few programs.
    throw new Error((error as Error).message.split(/\.\s/)[0])
  }
}

function wholeNumber(option: string, text: string): number {
  const number = text === '' ? Number.NaN : Number(text)
  if (!Number.isSafeInteger(number) || number < 0)
    throw new Error(`--${option} must be a whole number: ${text}`)
  return number
}
