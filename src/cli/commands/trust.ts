import { resolve } from 'node:path'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import type { TrustResult } from '../../daemon/commands/trust.ts'
import { count, inDigits, printable } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import { configCommand, flag, jsonOption } from '../options.ts'
import { EXIT, Problem } from '../problem.ts'
import type { OnInterrupts } from '../terminal/interrupts.ts'
import { printJson, printLine } from '../terminal/output.ts'

export const trustCommand = configCommand(
  options =>
    options
      .positional('folder', {
        type: 'string',
        describe: "A mirror's folder, or one below that is in doubt",
      })
      .options({
        'take-album': flag(
          'Instead of a folder: take the albums of the mirrors from a machine that is gone for good (account.shared)',
        ),
        ...jsonOption,
      })
      .example('$0 trust /srv/photos', 'It was emptied or replaced on purpose')
      .example('$0 trust --take-album', 'The machine that had the album is gone for good')
      .epilogue(
        'It does not ask, and itself deletes nothing: the next sync or run does, with hold and grace. --take-album is refused while the other machine works, and for half a minute after it was killed.',
      ),
  async (config, { folder: given, 'take-album': takeAlbum, json }, onInterrupts) => {
    if (takeAlbum) return takeAlbums(config, json, onInterrupts)
    if (given === undefined) throw new Problem('No folder is named. Name one, or say --take-album')
    const folder = realPathOf(resolve(given))
    const { result } = await carryOut(config, 'trust', { folder }, onInterrupts())
    const { keeps, ...told } = result
    if (json) printJson({ folder, ...told })
    else for (const line of inWords(printable(folder), result)) printLine(line)
    return EXIT.inSync
  },
)

async function takeAlbums(config: Config, json: boolean, onInterrupts: OnInterrupts): Promise<number> {
  const { result } = await carryOut(config, 'take_album', {}, onInterrupts())
  if (json) printJson(result)
  else
    for (const album of result.albums)
      printLine(
        `${album === '' ? "the host's root" : `the album "${printable(album)}"`} is this machine's from now on`,
      )
  return EXIT.inSync
}

function inWords(
  folder: string,
  { trusted, reason, missing, paths, in_doubt, keeps }: TrustResult,
): string[] {
  if (!trusted)
    return [
      `nothing to trust: ${folder} is not in doubt`,
      ...in_doubt.map(doubtful => `in doubt is ${printable(doubtful)}`),
    ]
  const what = keeps
    ? 'no image will be deleted: this mirror keeps images'
    : missing === 0
      ? 'no picture that has an image is missing: none will be deleted for that'
      : `${count(missing, 'picture')} that ${missing === 1 ? 'has an image is' : 'have images are'} not there now; these images will be deleted:`
  return [
    printable(reason!),
    what,
    ...paths.map(path => `  ${printable(path)}`),
    ...(missing > paths.length ? [`  and ${inDigits(missing - paths.length)} more`] : []),
    `${folder} is trusted as it is now: the next sync or run takes it as the truth.`,
    ...(missing > 0 ? [STILL] : []),
  ]
}

const STILL =
  'Too many at once are held until "albumd deletions approve"; many wait for deletions.grace_many, and few for the grace of the daemon, where it runs. Copies of pictures that lie elsewhere do not count.'
