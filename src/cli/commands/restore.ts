import { resolve } from 'node:path'
import { readAuthorities } from '../../config/host-access.ts'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import type { RestoreReport } from '../../daemon/restore/restore-event.ts'
import { EXIT } from '../exit-codes.ts'
import { command, configOption, jsonOption, readConfig } from '../options.ts'
import { restoreJson, restoreProgress } from '../terminal/restore-progress.ts'
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
        ...jsonOption,
      })
      .example('$0 restore /mnt/new/photos', 'All pictures, with their times, as they are on the host')
      .example(
        '$0 restore /tmp/back --mirror /srv/photos --deleted',
        'One mirror, with what waits to be deleted',
      )
      .epilogue(
        'Nothing is overwritten, and nothing is changed on the host. Ended early, the same command goes on where it ' +
          'was. It needs the state (state_dir), no key, and works beside a running albumd. A restore into a mirror ' +
          'itself is refused: move it there when it is whole. What could not be had it names, with the reason.',
      ),
  async ({ folder, config: flag, mirror, deleted, json }, onInterrupts) => {
    if (folder === '') throw new Problem(EXIT.usage, 'the folder is empty; name one')
    const config = await readConfig(flag)
    const mirrors = mirrorsFor(config, mirror)
    const ca = readAuthorities(config)
    await sayStateProblem(config)
    const { restoreMirrors } = await import('../../daemon/restore/restore.ts')
    const asJson = json ? restoreJson(process.stdout) : null
    const progress = asJson ?? (await restoreProgress(process.stdout))
    const interrupts = onInterrupts(() => progress.say('stopping'))
    try {
      const request = { folder, mirrors, deleted, ca }
      const report = await restoreMirrors(config, request, progress.tell, interrupts)
      progress.end()
      const exitCode = exitCodeOf(report)
      if (asJson) asJson.summary({ exit_code: exitCode, folder: resolve(folder), ...report })
      else process.stdout.write(`${inWords(report, folder, deleted).join('\n')}\n`)
      if (report.stopped !== null) process.stderr.write(`albumd: ${printable(report.stopped)}\n`)
      return exitCode
    } finally {
      progress.end()
    }
  },
)

function mirrorsFor({ mirrors }: Config, given: string | undefined): string[] {
  const folders = mirrors.map(({ folder }) => folder)
  if (given === undefined) return folders
  const real = realPathOf(resolve(given))
  if (folders.includes(real)) return [real]
  const known = folders.map(printable).join(', ')
  throw new Problem(EXIT.usage, `${printable(given)} is no mirror; the mirrors are ${known}`)
}

function exitCodeOf({ missing, older, stopped, interrupted }: RestoreReport): number {
  return missing > 0 || older > 0 || stopped !== null || interrupted ? EXIT.left : EXIT.inSync
}

function inWords(report: RestoreReport, folder: string, deleted: boolean): string[] {
  const { restored, there, bytes, older, proved, missing, untried, gone, stopped, interrupted } = report
  const before = there > 0 ? `, ${there.toLocaleString('en')} there already` : ''
  const lines = [`${count(restored, 'picture')} restored (${sizeInWords(bytes)})${before}`]
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
  if (missing > 0) lines.push(`${count(missing, 'picture')} missing: it is said above why`)
  if (untried > 0) lines.push(`${count(untried, 'picture')} not tried yet`)
  const goesOn = `"albumd restore ${printable(folder)}" goes on where it was`
  if (interrupted) lines.push(`ended early; ${goesOn}`)
  else if (missing > 0 && stopped === null) lines.push(`the same command tries what is missing once more`)
  return lines
}
