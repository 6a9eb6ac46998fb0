import { resolve } from 'node:path'
import { realPathOf } from '../../config/paths.ts'
import type { TrustResult } from '../../daemon/commands/trust.ts'
import { carryOut, silently } from '../carry-out.ts'
import { EXIT } from '../exit-codes.ts'
import { command, configOption, jsonOption, readConfig } from '../options.ts'
import { count, printable } from '../words/wording.ts'

export const trustCommand = command(
  options =>
    options
      .positional('folder', {
        type: 'string',
        demandOption: true,
        describe: "A mirror's folder, or one below that is in doubt",
      })
      .options({ ...configOption, ...jsonOption })
      .example('$0 trust /srv/photos', 'It was emptied or replaced on purpose')
      .epilogue(
        'It asks nothing: it says which images that will delete, and takes your word at once. The deletions come with ' +
          'the next sync or run. The hold applies; the grace as well where the daemon runs.',
      ),
  async ({ folder: given, config: flag, json }, onInterrupts) => {
    const config = await readConfig(flag)
    const folder = realPathOf(resolve(given))
    const interrupts = onInterrupts()
    const { keeps, ...told } = await carryOut(config, 'trust', { folder }, silently, interrupts)
    if (json) process.stdout.write(`${JSON.stringify({ folder, ...told })}\n`)
    else
      process.stdout.write(
        told.trusted ? inWords(folder, { keeps, ...told }) : needlessInWords(folder, told.in_doubt),
      )
    return EXIT.inSync
  },
)

function inWords(folder: string, { reason, missing, paths, keeps }: TrustResult): string {
  return `${consequencesInWords(reason!, missing, paths, keeps)}${afterwardsInWords(folder, missing)}`
}

function needlessInWords(folder: string, elsewhere: readonly string[]): string {
  const hint = elsewhere.map(doubtful => `in doubt is ${printable(doubtful)}\n`).join('')
  return `nothing to trust: ${printable(folder)} is not in doubt\n${hint}`
}

function consequencesInWords(
  reason: string,
  missing: number,
  paths: readonly string[],
  keeps: boolean,
): string {
  const what = keeps
    ? 'no image will be deleted: this mirror keeps images'
    : missing === 0
      ? 'no picture that has an image is missing: none will be deleted for that'
      : `${count(missing, 'picture')} that ${missing === 1 ? 'has an image is' : 'have images are'} not there now; these images will be deleted:`
  const more = missing > paths.length ? [`  and ${(missing - paths.length).toLocaleString('en')} more`] : []
  return `${[printable(reason), what, ...paths.map(path => `  ${printable(path)}`), ...more].join('\n')}\n`
}

function afterwardsInWords(folder: string, missing: number): string {
  const trusted = `${printable(folder)} is trusted as it is now: the next sync or run takes it as the truth.`
  const still =
    'The hold applies: too many deletions wait for "albumd deletions approve"; the grace as well where the daemon runs.'
  return `${trusted}\n${missing > 0 ? `${still}\n` : ''}`
}
