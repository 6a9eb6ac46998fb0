import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Part } from './part.ts'

type Named = Pick<Part, 'name' | 'about' | 'onlyNamed'>

export interface Options<Known> {
  short: boolean
  cache: string
  /** Those that were named, or all but those that are run only when they are named. */
  parts: Known[]
}

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'albumd-bench')

/** Answers null where help is asked for. Throws, in one line, where the command line is not understood. */
export function readOptions<Known extends Named>(
  args: readonly string[],
  known: readonly Known[],
): Options<Known> | null {
  const { values, positionals } = parsed(args)
  if (values.help) return null
  const unknown = positionals.filter(name => known.every(part => part.name !== name))
  if (unknown.length > 0)
    throw new Error(
      `${unknown.join(', ')}: no part of the bench; there are ${known.map(part => part.name).join(', ')}`,
    )
  if (values.cache === '') throw new Error('--cache needs a folder')
  return {
    short: values.short,
    cache: resolve(values.cache),
    parts: known.filter(({ name, onlyNamed }) =>
      positionals.length === 0 ? !onlyNamed : positionals.includes(name),
    ),
  }
}

export function usageOf(known: readonly Named[]): string {
  const width = Math.max(...known.map(({ name }) => name.length))
  return `npm run bench [-- PART… OPTION…]

albumd beside its peers, as one table of ratios.

Parts; where none is named, all that do not take very long:
${known.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`).join('\n')}

Options:
  --short         the short form, which leaves out what takes long
  --cache FOLDER  keeps there the trees that are made once (${CACHE})
  --help          prints this`
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        short: { type: 'boolean', default: false },
        cache: { type: 'string', default: CACHE },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    // What follows the first sentence fits few programs.
    throw new Error((error as Error).message.split(/\.\s/)[0])
  }
}
