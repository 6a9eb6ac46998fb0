import { resolve } from 'node:path'
import { readApiKey, readAuthorities } from '../../config/host-access.ts'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import type { RestoreReport } from '../../daemon/restore/restore.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { EXIT } from '../exit-codes.ts'
import { command, configOption, jsonOption, readConfig } from '../options.ts'
import { type RestoreProgress, restoreJson, restoreProgress } from '../terminal/restore-progress.ts'
import { Problem, sayStateProblem } from '../words/problem.ts'
import { count, printable, sizeInWords } from '../words/wording.ts'

export const restoreCommand = command(
  options =>
    options
      .positional('folder', {
        type: 'string',
        demandOption: true,
        describe: 'An empty folder, one that is not there yet, or one where a restore was begun',
      })
      .options({
        ...configOption,
        mirror: {
          type: 'string',
          requiresArg: true,
          describe: 'Only this mirror, by its folder; of several, each else has a folder of its name',
        },
        deleted: {
          type: 'boolean',
          default: false,
          describe: 'Also pictures that were deleted here and whose image is still on the host',
        },
        'from-host': {
          type: 'boolean',
          default: false,
          describe: 'All that the host lists, in a folder for each album; needs the key, and no state',
        },
        ...jsonOption,
      })
      .example('$0 restore /mnt/new/photos', 'All pictures, with their times, as they are on the host')
      .example(
        '$0 restore /tmp/back --mirror /srv/photos --deleted',
        'One mirror, with what waits to be deleted',
      )
      .example('$0 restore /mnt/new/all --from-host', 'When pictures and state are lost')
      .epilogue(
        'Nothing is overwritten, and nothing is changed on the host. Ended early, the same command goes on where it ' +
          'was. Without --from-host it needs the state (state_dir), no key, and works beside a running albumd. A restore into a mirror ' +
          'itself is refused: move it there when it is whole. What could not be had it names, with the reason.',
      ),
  async ({ folder, config: flag, mirror, deleted, fromHost, json }, onInterrupts) => {
    if (folder === '') throw new Problem(EXIT.usage, 'the folder is empty; name one')
    if (fromHost && (deleted || mirror !== undefined))
      throw new Problem(
        EXIT.usage,
        '--from-host fetches all that the host lists: leave out --mirror and --deleted',
      )
    const config = await readConfig(flag)
    const restore = fromHost
      ? await fromListing(config, folder)
      : await fromRecords(config, folder, mirrorsFor(config, mirror), deleted)
    const asJson = json ? restoreJson(process.stdout) : null
    const progress = asJson ?? (await restoreProgress(process.stdout))
    const interrupts = onInterrupts(() => progress.say('stopping'))
    try {
      const report = await restore(progress.tell, interrupts)
      progress.end()
      const { missing, older, stopped, interrupted } = report
      const isWhole = missing === 0 && older === 0 && stopped === null && !interrupted
      const exitCode = isWhole ? EXIT.inSync : EXIT.left
      if (asJson) asJson.summary({ exit_code: exitCode, folder: resolve(folder), ...report })
      else {
        const words = [restoredInWords(report)]
        words.push(...(fromHost ? proofInWords(report) : recordsInWords(report, deleted)))
        words.push(
          ...leftInWords(report, `albumd restore ${printable(folder)}${fromHost ? ' --from-host' : ''}`),
        )
        process.stdout.write(`${words.join('\n')}\n`)
      }
      if (stopped !== null) process.stderr.write(`albumd: ${printable(stopped)}\n`)
      return exitCode
    } finally {
      progress.end()
    }
  },
)

/** A restore, ready to run. */
type Restore = (tell: RestoreProgress['tell'], interruption: Interruption) => Promise<RestoreReport>

async function fromRecords(
  config: Config,
  folder: string,
  mirrors: string[],
  deleted: boolean,
): Promise<Restore> {
  const request = { folder, mirrors, deleted, ca: readAuthorities(config) }
  await sayStateProblem(config)
  const { restoreMirrors } = await import('../../daemon/restore/from-records.ts')
  return (tell, interruption) => restoreMirrors(config, request, tell, interruption)
}

async function fromListing(config: Config, folder: string): Promise<Restore> {
  const access = { ca: readAuthorities(config), apiKey: readApiKey(config, process.env).key }
  const { restoreFromHost } = await import('../../daemon/restore/from-host.ts')
  return (tell, interruption) => restoreFromHost(config, folder, access, tell, interruption)
}

function mirrorsFor({ mirrors }: Config, given: string | undefined): string[] {
  const folders = mirrors.map(({ folder }) => folder)
  if (given === undefined) return folders
  const real = realPathOf(resolve(given))
  if (folders.includes(real)) return [real]
  const known = folders.map(printable).join(', ')
  throw new Problem(EXIT.usage, `${printable(given)} is no mirror; the mirrors are ${known}`)
}

function recordsInWords({ older, proved, gone }: RestoreReport, deleted: boolean): string[] {
  const lines: string[] = []
  if (proved > 0)
    lines.push(`${count(proved, 'picture')} of them only linked until now: the bytes are proved`)
  if (older > 0)
    lines.push(
      `${count(older, 'picture')} of them in an older version: what changed since is not on the host`,
    )
  if (gone > 0 && !deleted)
    lines.push(
      `left out: ${count(gone, 'picture')} deleted here and still on the host; --deleted restores them too`,
    )
  return lines
}

function proofInWords({ proved, unproved }: RestoreReport): string[] {
  const lines = [`${count(proved, 'picture')} proved by their recorded hashes`]
  if (unproved > 0)
    lines.push(
      `${count(unproved, 'picture')} compared only with the size and the dimensions that the host lists, because nothing is recorded of them`,
    )
  return lines
}

function restoredInWords({ restored, there, bytes }: RestoreReport): string {
  const before = there > 0 ? `, ${there.toLocaleString('en')} there already` : ''
  return `${count(restored, 'picture')} restored (${sizeInWords(bytes)})${before}`
}

/** What is left to do, and the command that does it. */
function leftInWords(report: RestoreReport, command: string): string[] {
  const { missing, untried, stopped, interrupted } = report
  const lines: string[] = []
  if (missing > 0) lines.push(`${count(missing, 'picture')} missing: it is said above why`)
  if (untried > 0) lines.push(`${count(untried, 'picture')} not tried yet`)
  if (interrupted) lines.push(`ended early; "${command}" goes on where it was`)
  else if (missing > 0 && stopped === null) lines.push(`the same command tries what is missing once more`)
  return lines
}
