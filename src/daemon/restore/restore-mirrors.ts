import type { Config } from '../../config/schema.ts'
import { openDownloads } from '../../remote/download.ts'
import { systemClock } from '../../sync/clock.ts'
import type { Interruption } from '../../sync/interruption.ts'
import { NotPossible } from '../commands/command.ts'
import { type Reading, reading } from '../mirrored/reading.ts'
import { PlaceFiles } from './place-files.ts'
import { Restore } from './restore.ts'
import type { RestoreEvent, RestoreReport } from './restore-event.ts'
import { openTarget } from './target-folder.ts'
import { foldersFor } from './where-to.ts'

/** Downloads at a time: the host is a guest's, and a disk is soon busy. */
const CONCURRENCY_MAX = 8

export interface RestoreRequest {
  folder: string
  /** The folders of the mirrors that are restored. */
  mirrors: readonly string[]
  /** See RestoreParts. */
  deleted: boolean
  /** PEM, or null for the authorities that Node knows. */
  ca: string | null
}

/**
 * Fills an empty folder with what the mirrors have on the host, or goes on where an earlier run was ended. It needs no
 * key, and reads the state beside whoever works with it. Throws NotPossible, LockedError and StateError.
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
    let whole = false
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
      whole = report.missing === 0 && report.stopped === null && !report.interrupted
      return report
    } finally {
      await downloads.close()
      await target.close(whole)
    }
  })
}

/** An empty folder at the end would look like a success. */
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
