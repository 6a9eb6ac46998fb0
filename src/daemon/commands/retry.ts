import { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import { resent, retried } from '../../records/pictures.ts'
import { pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import { type Command, isAtOrBelow, NotPossible } from './command.ts'
import { type PassResult, passResult } from './sync.ts'

/** `path` and `resend`: absolute, or below a mirror's folder. */
interface RetryRequest {
  path?: string | undefined
  resend?: string | undefined
}

export const retryCommand: Command<RetryRequest, PassResult> = {
  request: z.strictObject({ path: z.string().optional(), resend: z.string().optional() }),
  needsHost: true,
  async carryOut(context, { path, resend }) {
    const { config, synced } = context
    if (path !== undefined && !hasFailures(config, synced, path))
      throw new NotPossible(`retry ${path}: nothing failed at or below it; "albumd status" lists what did`)
    if (path !== undefined || resend === undefined) {
      await forgetFailures(config, synced, path)
      const { host } = context.engine().context
      for (const { endpoint } of host.blocks()) host.unblock(endpoint)
    }
    if (resend !== undefined) {
      const files = await resendInDoubt(config, synced, resend, Date.now())
      if (files.length === 0)
        throw new NotPossible(
          `--resend ${resend}: no upload there is in doubt; "albumd status" lists the uploads in doubt`,
        )
    }
    return passResult(context, async () => (await context.pass()).stopped)
  },
}

/**
 * Forgets the failures of the files at and below `path` (absolute, or below a mirror's folder; undefined: of all files),
 * and that the quota was used up. The host's blocks stay recorded until they end, because `status` shows since when they
 * hold. Answers how many files are tried again.
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

/** Whether an upload failed or the host refused a deletion at or below `path` (as above). */
export function hasFailures(config: Config, synced: Synced, path: string): boolean {
  const isMeant = isAt(config, synced, path)
  return synced.summaries.failures(ALL).some(isMeant) || synced.escrow.postponed().some(isMeant)
}

const ALL = Number.MAX_SAFE_INTEGER

type Mirrors = { mirrors: readonly Pick<Config['mirrors'][number], 'folder'>[] }

/** Has the uploads in doubt at and below `path` sent again, as a person asked. Answers the paths of these files. */
export async function resendInDoubt(
  config: Mirrors,
  synced: Synced,
  path: string,
  now: number,
): Promise<string[]> {
  const inDoubt = [...synced.files.inState('uncertain'), ...synced.files.inState('failed')]
  const files = filesAt(config, synced, inDoubt, path).filter(
    file => file.state === 'uncertain' || DOUBTFUL.has(synced.failures.codeOf(file) ?? ''),
  )
  await synced.commit(tx => resent(tx, files, now))
  return files.map(file => pathOf(synced.folders.byId(file.folder)!.path, file.name))
}

/** Failures that end when a person asks for the upload to be sent again. */
const DOUBTFUL: ReadonlySet<string> = new Set(['AMBIGUOUS', 'STATE_RESTORED'])

function filesAt(config: Mirrors, synced: Synced, files: readonly FileRow[], path?: string): FileRow[] {
  const isMeant = isAt(config, synced, path)
  return files.filter(({ folder, name }) => {
    const { mirror, path: above } = synced.folders.byId(folder)!
    return isMeant({ mirror, path: pathOf(above, name) })
  })
}

/** Tells whether a location in the config's mirrors is at or below `path` (as above). */
function isAt({ mirrors }: Mirrors, synced: Synced, path: string | undefined) {
  const folders = new Map(mirrors.map(({ folder }) => [synced.mirrors.of(folder)?.id, folder]))
  return (location: { mirror: number; path: string }) => {
    const folder = folders.get(location.mirror)
    return folder !== undefined && isAtOrBelow(folder, location.path, path)
  }
}
