import { resolve } from 'node:path'
import { realPathOf } from '../../config/paths.ts'
import type { TrustResult } from '../../daemon/commands/trust.ts'
import { count, inDigits, printable } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import { configCommand, jsonOption } from '../options.ts'
import { EXIT } from '../problem.ts'
import { printLine } from '../terminal/output.ts'

export const trustCommand = configCommand(
  options =>
    options
      .positional('folder', {
        type: 'string',
        demandOption: true,
        describe: "A mirror's folder, or one below that is in doubt",
      })
      .options(jsonOption)
      .example('$0 trust /srv/photos', 'It was emptied or replaced on purpose')
      .epilogue(
        'It asks nothing: it says which images that will delete, and takes your word at once. The deletions come with ' +
          'the next sync or run. The hold applies; the grace as well where the daemon runs.',
      ),
  async (config, { folder: given, json }, onInterrupts) => {
    const folder = realPathOf(resolve(given))
    const { result } = await carryOut(config, 'trust', { folder }, onInterrupts())
    const { keeps, ...told } = result
    if (json) printLine(JSON.stringify({ folder, ...told }))
    else for (const line of inWords(printable(folder), result)) printLine(line)
    return EXIT.inSync
  },
)

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
  'The hold applies: too many deletions wait for "albumd deletions approve"; the grace as well where the daemon runs.'
