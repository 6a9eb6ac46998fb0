import { configExample } from '../../../src/config/example.ts'
import type { Config } from '../../../src/config/schema.ts'
import type { CommandContext } from '../../../src/daemon/commands/command.ts'
import { deletionsCommand } from '../../../src/daemon/commands/deletions.ts'
import { type ExplainContext, type Explanation, explain } from '../../../src/daemon/report/explain.ts'
import { realDisk } from '../../../src/local/disk.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import type { BlockRow } from '../../../src/synced/tables/account.ts'
import { parse } from '../../config/config-text.ts'
import { openWorkshop, type Workshop } from '../../sync/workshop.ts'

/** The engine between a folder and a host, and the answers of `why` about the folder. */
export interface Asked extends Workshop {
  config: Config
  /** By default a daemon runs, and nothing was written for five seconds. */
  why(path: string, changes?: Partial<ExplainContext>): Explanation
  /** Decides on the deletions that wait at and below a path. */
  decide(action: 'approve' | 'discard', path: string): Promise<unknown>
}

export async function asked(policy: Partial<MirrorPolicy> = {}): Promise<Asked> {
  const workshop = await openWorkshop(policy)
  const { folder, album, deletions, ignore } = workshop.mirror
  const mirror = { folder, album, deletions, ignore: [...ignore] }
  const config = { ...parse(configExample()), mirrors: [mirror] }
  const { uploads } = config
  const { hours: _hours, ...always } = uploads
  const { synced } = workshop
  const why = (path: string, changes: Partial<ExplainContext> = {}) =>
    explain(
      {
        config: { ...config, uploads: always },
        synced,
        disk: realDisk,
        running: true,
        now: Date.now() + 5000,
        ...changes,
      },
      { mirror, path },
    )
  const context = { config, synced } as CommandContext
  const decide: Asked['decide'] = (action, path) => deletionsCommand.carryOut(context, { action, path })
  return { ...workshop, config, why, decide }
}

export const events = ({ history }: Explanation) => history.map(({ event }) => event)

/** The host refuses these endpoints, and no others. */
export function blockedBy({ synced }: Asked, ...blocks: BlockRow[]): void {
  synced.commitNow(tx => {
    tx.account.clearBlocks([])
    for (const block of blocks) tx.account.block(block)
  })
}
