import type { MirroredPicture } from '../../daemon/report/mirrored-pictures.ts'
import type { MirrorLocation } from '../../sync/outlook/index.ts'
import { EXIT } from '../exit-codes.ts'
import { command, configOption, pathArgument, readConfig } from '../options.ts'
import { FORMATS, listing, needsAddress, STATE_COLUMN } from '../terminal/listing-formats.ts'
import { paint, writeOut } from '../terminal/output.ts'
import { widthOf } from '../terminal/table.ts'
import { Problem, sayStateProblem } from '../words/problem.ts'
import { count, printable } from '../words/wording.ts'

export const lsCommand = command(
  options =>
    options
      .positional('path', { type: 'string', describe: 'Only what is at and below this path' })
      .options({
        ...configOption,
        format: { choices: FORMATS, default: 'table' as const, describe: 'How they are listed' },
      })
      .example('$0 ls Holiday', 'What is on the host of a folder')
      .example('$0 ls --format csv > pictures.csv', 'For a spreadsheet')
      .example('$0 ls Holiday --format markdown', 'To paste into a page: each picture, shown')
      .epilogue(
        'It only reads, also beside a running albumd, and does not ask the host. Where the state is not "synced", the ' +
          'address is of the picture as it was before ("albumd why" tells more). A table is cut to fit a terminal; ' +
          'the other formats are not. CSV has names as they are, but on a terminal their control characters are escaped. A path of which nothing is known is bad usage (2).',
      ),
  async ({ path, config: flag, format }) => {
    const given = pathArgument(path)
    const config = await readConfig(flag)
    await sayStateProblem(config)
    const { reading } = await import('../../daemon/state/state.ts')
    const { locationsOf } = await import('../../daemon/report/location.ts')
    const { picturesOf, recordedAt } = await import('../../daemon/report/mirrored-pictures.ts')
    return reading(config, async synced => {
      const places = locationsOf(config, synced, given)
      if (places.length === 0) throw inNoMirror(path!, config.mirrors)
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
      const terminal = process.stdout.isTTY === true
      const options = {
        oneMirror: isOneMirror(places),
        terminal,
        width: widthOf(process.stdout),
        paint: inTable,
      }
      await writeOut(process.stdout, listing(pictures(), format, options))
      if (unknown > 0 && needsAddress(format))
        process.stderr.write(`albumd: left out: ${count(unknown, 'picture')} whose ${UNKNOWN}\n`)
      return EXIT.inSync
    })
  },
)

export const UNKNOWN =
  'delivery address is not known; "albumd adopt --verify" finds it out, after one upload of albumd\'s own'

function isOneMirror(places: readonly MirrorLocation[]): boolean {
  return new Set(places.map(({ mirror }) => mirror.folder)).size === 1
}

/** Titles stand out, and so does what is not as it should be. */
export function inTable(shown: string, at: number, row: readonly string[] | null): string {
  if (row === null) return paint('bold', shown)
  return at === STATE_COLUMN && row[at] !== 'synced' ? paint('yellow', shown) : shown
}

export function inNoMirror(path: string, mirrors: readonly { folder: string }[]): Problem {
  const known = mirrors.map(({ folder }) => printable(folder)).join(', ')
  return new Problem(EXIT.usage, `${printable(path)} lies in no mirror; the mirrors are ${known}`)
}

export function nothingKnown(path: string): Problem {
  return new Problem(
    EXIT.usage,
    `${printable(path)}: nothing is known of it; "albumd why" tells of paths, "albumd ls" of what is on the host`,
  )
}
