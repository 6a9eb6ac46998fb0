import type { MirroredPicture } from '../../daemon/report/mirrored-pictures.ts'
import { EXIT } from '../exit-codes.ts'
import { command, configOption, pathArgument, readConfig } from '../options.ts'
import {
  FORMATS,
  type Format,
  type ListingOptions,
  listing,
  pictureInJson,
} from '../terminal/listing-formats.ts'
import { writeOut } from '../terminal/output.ts'
import { widthOf } from '../terminal/table.ts'
import { Problem, sayStateProblem } from '../words/problem.ts'
import { printable } from '../words/wording.ts'
import { inNoMirror, inTable, nothingKnown, UNKNOWN } from './ls.ts'

export const urlCommand = command(
  options =>
    options
      .positional('file', {
        type: 'string',
        demandOption: true,
        describe: "Absolute, or below a mirror's folder",
      })
      .options({
        ...configOption,
        format: { choices: FORMATS, default: 'url' as const, describe: 'How it is shown' },
        copy: { type: 'boolean', default: false, describe: 'Put it into the clipboard as well' },
      })
      .example('$0 url Holiday/a.jpg', 'One address, and nothing else')
      .example('$0 url Holiday/a.jpg --format markdown --copy', 'Ready to be pasted into a page')
      .epilogue(
        'Who knows the address can see the picture, with all that its metadata tells. --copy takes wl-copy, xclip, ' +
          'xsel or pbcopy. A picture that is not on the host, or is there in an older version, ends with 3.',
      ),
  async ({ file, config: flag, format, copy }) => {
    const given = pathArgument(file)!
    const config = await readConfig(flag)
    await sayStateProblem(config)
    const { reading } = await import('../../daemon/state/state.ts')
    const { locationsOf } = await import('../../daemon/report/location.ts')
    const { recordedAt } = await import('../../daemon/report/mirrored-pictures.ts')
    const picture = await reading(config, async synced => {
      const places = locationsOf(config, synced, given)
      if (places.length === 0) throw inNoMirror(file, config.mirrors)
      const found = places.map(place => recordedAt(synced, place))
      const [one, other] = found.flatMap(at => (at.kind === 'picture' ? [at] : []))
      if (other) throw severalMirrors(file, config.mirrors)
      if (one) return one.picture ?? notThere(file)
      if (found.some(({ kind }) => kind === 'folder'))
        throw new Problem(EXIT.usage, `${printable(file)} is a folder; "albumd ls" lists its pictures`)
      if (found.some(({ kind }) => kind === 'unseen')) notThere(file)
      throw nothingKnown(file)
    })
    if (picture.url === null) throw new Problem(EXIT.left, `${printable(file)}: its ${UNKNOWN}`)
    return show(picture, format, copy)
  },
)

async function show(picture: MirroredPicture, format: Format, copy: boolean): Promise<number> {
  const terminal = process.stdout.isTTY === true
  const width = widthOf(process.stdout)
  await writeOut(process.stdout, inFormat(picture, format, { terminal, width, paint: inTable }))
  if (copy) {
    const { copyToClipboard } = await import('../terminal/clipboard.ts')
    const plain = inFormat(picture, format, { terminal: false, width: null })
    const problem = await copyToClipboard([...plain].join('').trimEnd())
    if (problem !== null) throw new Problem(EXIT.usage, `not copied: ${problem}`)
  }
  if (!picture.older) return EXIT.inSync
  process.stderr.write('albumd: this is an older version; the picture as it is now is not on the host yet\n')
  return EXIT.left
}

function inFormat(
  picture: MirroredPicture,
  format: Format,
  options: Omit<ListingOptions, 'oneMirror'>,
): Iterable<string> {
  return format === 'json'
    ? [pictureInJson(picture, options.terminal)]
    : listing([picture], format, { oneMirror: true, ...options })
}

function notThere(file: string): never {
  throw new Problem(
    EXIT.left,
    `${printable(file)} is not on the host; "albumd why" tells why, and what happens next`,
  )
}

function severalMirrors(file: string, mirrors: readonly { folder: string }[]): Problem {
  const known = mirrors.map(({ folder }) => printable(folder)).join(', ')
  return new Problem(
    EXIT.usage,
    `${printable(file)} is in more than one mirror; give its whole path (the mirrors are ${known})`,
  )
}
