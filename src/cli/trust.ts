import { resolve } from 'node:path'
import type { CommandModule } from 'yargs'
import { realPathOf } from '../config/real-path.ts'
import type { Config } from '../config/schema.ts'
import type { Trust } from '../sync/trust.ts'
import { configOption, readConfig } from './config-option.ts'
import { EXIT } from './exit-codes.ts'
import { Problem } from './problem.ts'
import { count, printable } from './wording.ts'

interface TrustArgs {
  folder: string
  config: string | undefined
  json: boolean
}

/** How many of the missing pictures are named. */
const NAMED = 10

export function trustCommand(exit: (code: number) => void): CommandModule<object, TrustArgs> {
  return {
    command: 'trust <folder>',
    describe: 'Accept a guarded folder as it is now: says what that will delete, and records it at once',
    builder: command =>
      command
        .positional('folder', {
          type: 'string',
          demandOption: true,
          describe: "A mirror's folder, or one below that is in doubt",
        })
        .options({
          ...configOption,
          json: { type: 'boolean', default: false, describe: 'One object on standard output' },
        })
        .example('$0 trust /srv/photos', 'It was emptied or replaced on purpose')
        .epilogue(
          'It asks nothing: it says which images that will delete, and takes your word at once. The deletions come with ' +
            'the next sync or run. The hold applies; the grace as well where the daemon runs.',
        ),
    handler: async args => exit(await trust(args)),
  }
}

async function trust({ folder: given, config: flag, json }: TrustArgs): Promise<number> {
  const config = readConfig(flag)
  const folder = realPathOf(resolve(given))
  const policy = mirrorOf(config, folder)
  const { openState } = await import('../daemon/state.ts')
  const { realDisk } = await import('../local/real-disk.ts')
  const { missingPictures, recordTrust, trustIn } = await import('../sync/trust.ts')
  const state = await openState(config, line => void process.stderr.write(`albumd: ${line}\n`))
  try {
    const { synced } = state
    const mirror = synced.mirrors.of(policy.folder)
    const path = folder.slice(policy.folder.length + 1)
    const found: Trust = mirror
      ? trustIn(realDisk, synced, mirror, path)
      : { kind: 'needless', elsewhere: [] }
    if (found.kind === 'impossible')
      throw new Problem(EXIT.usage, `${printable(found.reason)}; what can't be looked at can't be trusted`)
    if (found.kind === 'needless') {
      const in_doubt = found.elsewhere
      if (json) print({ folder, trusted: false, reason: null, missing: 0, paths: [], in_doubt })
      else process.stdout.write(needlessInWords(folder, in_doubt))
      return EXIT.inSync
    }
    const keeps = policy.deletions === 'keep'
    let missing = 0
    const paths: string[] = []
    for (const picture of keeps ? [] : missingPictures(realDisk, synced, found.mirror, path))
      if (missing++ < NAMED) paths.push(picture)
    if (!json) process.stdout.write(consequencesInWords(found.reason, missing, paths, keeps))
    await recordTrust(synced, found)
    if (json) print({ folder, trusted: true, reason: found.reason, missing, paths, in_doubt: [] })
    else process.stdout.write(afterwardsInWords(folder, missing))
    return EXIT.inSync
  } catch (error) {
    throw state.failed(error)
  } finally {
    state.close()
  }
}

function mirrorOf(config: Config, folder: string): Config['mirrors'][number] {
  const mirror = config.mirrors.find(({ folder: root }) => folder === root || folder.startsWith(`${root}/`))
  if (mirror) return mirror
  const known = config.mirrors.map(({ folder: root }) => printable(root)).join(', ')
  throw new Problem(EXIT.usage, `${printable(folder)} lies in no mirror; the mirrors are ${known}`)
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

function print(summary: object): void {
  process.stdout.write(`${JSON.stringify(summary)}\n`)
}
