import type { Config } from '../../config/schema.ts'
import { resent, retried } from '../../records/pictures.ts'
import { pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import { isAtOrBelow } from '../commands/path-argument.ts'

/**
 * Forgets what went wrong with the files at and below `path` (absolute, or below a mirror's folder), or with all, and
 * that the quota was used up. What the host has shut stays on record until it opens: a person sees since when. Answers
 * how many files are tried again.
 */
export async function forgetFailures(config: Config, synced: Synced, path?: string): Promise<number> {
  const failed = filesAt(config, synced, synced.files.inState('failed'), path)
  await synced.commit(tx => {
    retried(tx, failed)
    for (const { folder, name } of failed) tx.failures.clear(folder, name)
    tx.account.forgetExhaustion()
    tx.meta.clear('size_limit')
  })
  return failed.length
}

/** Whether anything at and below `path` (as above) is not as it should be: an upload that failed, a refused deletion. */
export function hasFailures(config: Config, synced: Synced, path: string): boolean {
  const folders = new Map(config.mirrors.map(({ folder }) => [synced.mirrors.of(folder)?.id, folder]))
  const isMeant = ({ mirror, path: failed }: { mirror: number; path: string }) => {
    const folder = folders.get(mirror)
    return folder !== undefined && isAtOrBelow(folder, failed, path)
  }
  return synced.summaries.failures(ALL).some(isMeant) || synced.escrow.postponed().some(isMeant)
}

const ALL = Number.MAX_SAFE_INTEGER

/** Of the config it takes the mirrors' folders. */
type Mirrors = { mirrors: readonly Pick<Config['mirrors'][number], 'folder'>[] }

/** The files at and below `path` whose upload is in doubt: a person wants them sent again all the same. */
export async function resend(config: Mirrors, synced: Synced, path: string, now: number): Promise<string[]> {
  const inDoubt = [...synced.files.inState('uncertain'), ...synced.files.inState('failed')]
  const files = filesAt(config, synced, inDoubt, path).filter(
    file => file.state === 'uncertain' || DOUBTFUL.has(synced.failures.codeOf(file) ?? ''),
  )
  await synced.commit(tx => resent(tx, files, now))
  return files.map(file => pathOf(synced.folders.byId(file.folder)!.path, file.name))
}

/** Failures that a person's word ends. */
const DOUBTFUL: ReadonlySet<string> = new Set(['AMBIGUOUS', 'STATE_RESTORED'])

function filesAt(config: Mirrors, synced: Synced, files: readonly FileRow[], path?: string): FileRow[] {
  const mirrors = new Map(config.mirrors.map(({ folder }) => [synced.mirrors.of(folder)?.id, folder]))
  return files.filter(file => {
    const row = synced.folders.byId(file.folder)!
    const mirror = mirrors.get(row.mirror)
    return mirror !== undefined && isAtOrBelow(mirror, pathOf(row.path, file.name), path)
  })
}
