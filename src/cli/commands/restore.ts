import { resolve } from 'node:path'
import { readApiKey, readAuthorities } from '../../config/host-access.ts'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import type { RestoreRequest } from '../../daemon/restore/restore.ts'
import type { FromHostReport, RestoreReport } from '../../daemon/restore/restore-event.ts'
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
    const ca = readAuthorities(config)
    const run = fromHost
      ? await fromListing(config, folder, ca)
      : await fromRecords(config, { folder, mirrors: mirrorsFor(config, mirror), deleted, ca })
    const asJson = json ? restoreJson(process.stdout) : null
    const progress = asJson ?? (await restoreProgress(process.stdout))
    const interrupts = onInterrupts(() => progress.say('stopping'))
    try {
      const { report, words, isWhole } = await run(progress.tell, interrupts)
      progress.end()
      const exitCode = isWhole ? EXIT.inSync : EXIT.left
      if (asJson) asJson.summary({ exit_code: exitCode, folder: resolve(folder), ...report })
      else process.stdout.write(`${words.join('\n')}\n`)
      if (report.stopped !== null) process.stderr.write(`albumd: ${printable(report.stopped)}\n`)
      return exitCode
    } finally {
      progress.end()
    }
  },
)

/** A restore, ready to run. `isWhole`: nothing is left to do. */
type Run = (
  tell: RestoreProgress['tell'],
  interruption: Interruption,
) => Promise<{ report: RestoreReport | FromHostReport; words: string[]; isWhole: boolean }>

async function fromRecords(config: Config, request: RestoreRequest): Promise<Run> {
  await sayStateProblem(config)
  const { restoreMirrors } = await import('../../daemon/restore/restore.ts')
  return async (tell, interruption) => {
    const report = await restoreMirrors(config, request, tell, interruption)
    return { report, words: inWords(report, request), isWhole: isWhole(report) && report.older === 0 }
  }
}

async function fromListing(config: Config, folder: string, ca: string | null): Promise<Run> {
  const apiKey = readApiKey(config, process.env).key
  const { restoreFromHost } = await import('../../daemon/restore/from-host.ts')
  return async (tell, interruption) => {
    const report = await restoreFromHost(config, folder, { apiKey, ca }, tell, interruption)
    return { report, words: listedInWords(report, folder), isWhole: isWhole(report) }
  }
}

function mirrorsFor({ mirrors }: Config, given: string | undefined): string[] {
  const folders = mirrors.map(({ folder }) => folder)
  if (given === undefined) return folders
  const real = realPathOf(resolve(given))
  if (folders.includes(real)) return [real]
  const known = folders.map(printable).join(', ')
  throw new Problem(EXIT.usage, `${printable(given)} is no mirror; the mirrors are ${known}`)
}

function isWhole({ missing, stopped, interrupted }: RestoreReport | FromHostReport): boolean {
  return missing === 0 && stopped === null && !interrupted
}

function inWords(report: RestoreReport, { folder, deleted }: RestoreRequest): string[] {
  const { older, proved, gone } = report
  const lines = [restoredInWords(report)]
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
  return [...lines, ...leftInWords(report, `albumd restore ${printable(folder)}`)]
}

function listedInWords(report: FromHostReport, folder: string): string[] {
  const { proved, unproved } = report
  const lines = [restoredInWords(report), `${count(proved, 'picture')} proved by their recorded hashes`]
  if (unproved > 0)
    lines.push(
      `${count(unproved, 'picture')} compared only with the size and the dimensions that the host lists, because nothing is recorded of them`,
    )
  return [...lines, ...leftInWords(report, `albumd restore ${printable(folder)} --from-host`)]
}

function restoredInWords({ restored, there, bytes }: RestoreReport | FromHostReport): string {
  const before = there > 0 ? `, ${there.toLocaleString('en')} there already` : ''
  return `${count(restored, 'picture')} restored (${sizeInWords(bytes)})${before}`
}

/** What is left to do, and the command that does it. */
function leftInWords(report: RestoreReport | FromHostReport, command: string): string[] {
  const { missing, untried, stopped, interrupted } = report
  const lines: string[] = []
  if (missing > 0) lines.push(`${count(missing, 'picture')} missing: it is said above why`)
  if (untried > 0) lines.push(`${count(untried, 'picture')} not tried yet`)
  if (interrupted) lines.push(`ended early; "${command}" goes on where it was`)
  else if (missing > 0 && stopped === null) lines.push(`the same command tries what is missing once more`)
  return lines
}
