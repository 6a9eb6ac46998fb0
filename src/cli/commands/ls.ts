import type { Config } from '../../config/schema.ts'
import type { MirroredPicture } from '../../daemon/report/mirrored-pictures.ts'
import type { MirrorLocation } from '../../sync/outlook/index.ts'
import { count, printable } from '../../words/text.ts'
import { configCommand, flag, jsonOption, pathArgument } from '../options.ts'
import { EXIT, Problem, sayStateProblem } from '../problem.ts'
import { FORMATS, listing, needsAddress } from '../terminal/listing-formats.ts'
import { SCHEMA, sayAside, writeOut } from '../terminal/output.ts'

export const lsCommand = configCommand(
  options =>
    options
      .positional('path', { type: 'string', describe: 'Only what is at and below this path' })
      .options({
        format: { choices: FORMATS, default: 'table' as const, describe: 'How they are listed' },
        'left-out': flag('What on the disk is not mirrored, and why, in place of what is on the host'),
        ...jsonOption,
      })
      .example('$0 ls Holiday', 'What is on the host of a folder')
      .example('$0 ls --left-out', 'What is not mirrored, and why')
      .example('$0 ls --format csv > pictures.csv', 'For a spreadsheet')
      .example('$0 ls Holiday --format markdown', 'To paste into a page: each picture, shown')
      .epilogue(
        'It only reads, also beside a running albumd, and does not ask the host. If the state is not ' +
          '"synced", the address is that of the picture as it was before ("albumd why" tells more). A table ' +
          'is cut to fit a terminal; the other formats are not. CSV has names as they are, but on a terminal ' +
          'their control characters are escaped. A path of which nothing is known is bad usage (2).',
      ),
  async (config, { path, json, format: named, 'left-out': leftOut }) => {
    const format = json ? 'json' : named
    const given = pathArgument(path)
    await sayStateProblem(config)
    const { reading } = await import('../../daemon/state/state.ts')
    const { locationsOf, picturesOf, recordedAt } = await import('../../daemon/report/mirrored-pictures.ts')
    return reading(config, async synced => {
      const places = locationsOf(config, synced, given)
      if (places.length === 0) throw inNoMirror(path!, config)
      if (leftOut) {
        const { leftOutLines } = await import('../terminal/left-out.ts')
        await writeOut(process.stdout, leftOutLines(places, format === 'json'))
        return EXIT.inSync
      }
      const found = places.map(place => recordedAt(synced, place))
      if (found.every(({ kind }) => kind === 'nothing')) throw nothingKnown(path!)
      let unknown = 0
      function* pictures(): Generator<MirroredPicture> {
        for (const at of found)
          for (const picture of picturesOf(at)) {
            if (picture.url === null) unknown++
            yield picture
          }
      }
      const oneMirror = new Set(places.map(({ mirror }) => mirror.folder)).size === 1
      const lines = await listing(pictures(), format, { oneMirror, out: process.stdout })
      await writeOut(process.stdout, json ? inObject(lines) : lines)
      if (unknown > 0 && needsAddress(format))
        sayAside(`left out: ${count(unknown, 'picture')} whose ${UNKNOWN}`)
      return EXIT.inSync
    })
  },
)

function* inObject(lines: Iterable<string>): Generator<string> {
  yield `{"schema":${SCHEMA},"pictures":`
  yield* lines
  yield '}\n'
}

export const UNKNOWN =
  'delivery address is not known; "albumd adopt --verify" finds it out, after one upload of albumd\'s own'

export function mirrorsOf({ mirrors }: Config): string {
  return `the mirrors are ${mirrors.map(({ folder }) => printable(folder)).join(', ')}`
}

/** The locations that paths of a command line name, one or several for each path. Throws Problem for a path in no mirror. */
export async function locationsToActOn(config: Config, paths: readonly string[]): Promise<MirrorLocation[]> {
  // Without a path, a damaged state must not be read: sync sets it aside.
  if (paths.length === 0) return []
  const { readState } = await import('../../daemon/state/state.ts')
  const { locationsOf, recordedAt } = await import('../../daemon/report/mirrored-pictures.ts')
  return readState(config, synced =>
    paths.flatMap(path => {
      const places = locationsOf(config, synced, pathArgument(path))
      if (places.length === 0) throw inNoMirror(path, config)
      if (places.every(place => recordedAt(synced, place).kind === 'nothing')) throw nothingKnown(path)
      return places
    }),
  )
}

export function inNoMirror(path: string, config: Config): Problem {
  return new Problem(`${printable(path)} lies in no mirror; ${mirrorsOf(config)}`)
}

export function nothingKnown(path: string): Problem {
  return new Problem(
    `${printable(path)}: nothing is known of it; "albumd why" tells of paths, "albumd ls" of what is on the host`,
  )
}
