import { basename } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { openDownloads } from '../../remote/download.ts'
import { systemClock } from '../../sync/clock.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { NotPossible } from '../commands/command.ts'
import { type Reading, reading } from '../mirrored/reading.ts'
import { PlaceFiles } from './place-files.ts'
import { Restore } from './restore.ts'
import type { RestoreEvent, RestoreReport } from './restore-event.ts'
import { openTarget } from './target-folder.ts'

/** The most downloads at a time. More would disturb other users of the host, and hardly be faster on one disk. */
const CONCURRENCY_MAX = 8

export interface RestoreRequest {
  folder: string
  /** The folders of the mirrors to restore. */
  mirrors: readonly string[]
  /** Whether pictures that were deleted from the disk are restored too, while their image is still on the host. */
  deleted: boolean
  /** PEM. Null: the authorities that Node knows. */
  ca: string | null
}

/**
 * Fills an empty folder with the mirrors' pictures from the host, or goes on where an earlier run ended. It needs no API
 * key, and may run beside a daemon. Throws NotPossible, LockedError and StateError.
 */
export function restoreMirrors(
  config: Config,
  { folder, mirrors, deleted, ca }: RestoreRequest,
  tell: (event: RestoreEvent) => void,
  interruption: Interruption,
): Promise<RestoreReport> {
  return reading(config, async records => {
    refuseNothing(records, config, mirrors)
    const target = await openTarget(folder, config, mirrors)
    const concurrency = Math.min(CONCURRENCY_MAX, config.uploads.concurrency)
    const downloads = openDownloads({
      baseUrl: config.host.base_url,
      ...(ca !== null && { ca }),
      timeoutMs: config.host.timeout,
    })
    let complete = false
    try {
      const restore = new Restore({
        records,
        downloads,
        files: new PlaceFiles(target),
        clock: systemClock,
        random: Math.random,
        concurrency,
        deleted,
        tell,
      })
      const report = await restore.run(foldersFor(mirrors), interruption)
      complete = report.missing === 0 && report.stopped === null && !report.interrupted
      return report
    } finally {
      await downloads.close()
      await target.close(complete)
    }
  })
}

/** Throws NotPossible where no mirror has records: an empty folder at the end would look like a success. */
function refuseNothing({ synced }: Reading, { state_dir }: Config, mirrors: readonly string[]): void {
  const isKnown = mirrors.some(folder => {
    const row = synced.mirrors.of(folder)
    return row !== undefined && synced.files.anyOfMirror(row.id)
  })
  if (!isKnown)
    throw new NotPossible(
      `${state_dir}: nothing is recorded of ${mirrors.join(', ')}, so there is nothing to restore; check state_dir and mirrors[].folder`,
    )
}

/**
 * The folder for each mirror, below the folder that is filled: '' for a single mirror, otherwise the name of the mirror's
 * folder. Where two mirrors have the same name, each gets its whole path.
 */
function foldersFor(mirrors: readonly string[]): Map<string, string> {
  if (mirrors.length === 1) return new Map([[mirrors[0]!, '']])
  const short = mirrors.map(folder => basename(folder))
  // Some disks treat capital and small letters alike.
  const differ = new Set(short.map(name => name.normalize('NFC').toLowerCase())).size === short.length
  const isNamed = short.every(name => name !== '')
  return new Map(
    mirrors.map((folder, at) => [folder, differ && isNamed ? short[at]! : folder.replace(/^\/+/, '')]),
  )
}
