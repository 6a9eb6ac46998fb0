import { configExample } from '../../../src/config/example.ts'
import type { Config } from '../../../src/config/schema.ts'
import { type ExplainContext, explain } from '../../../src/daemon/why/explain.ts'
import type { Explanation } from '../../../src/daemon/why/explanation.ts'
import { realDisk } from '../../../src/local/real-disk.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import { parse } from '../../config/config-text.ts'
import { openWorkshop, type Workshop } from '../../sync/workshop.ts'

/** The engine between a folder and a host, and the answers of `why` about the folder. */
export interface Asked extends Workshop {
  config: Config
  why(path: string, changes?: Partial<ExplainContext>): Explanation
}

/** A daemon runs, and the host refuses nothing. */
export const OPEN = {
  running: true,
  quota: { exhausted: false, resumes_at: null, next_probe_at: null, limit: 5000, reserve: 500 },
  blocks: [],
}

export async function asked(policy: Partial<MirrorPolicy> = {}): Promise<Asked> {
  const workshop = await openWorkshop(policy)
  const { folder, album, deletions, ignore } = workshop.mirror
  const mirror = { folder, album, deletions, ignore: [...ignore] }
  const config = { ...parse(configExample()), mirrors: [mirror] }
  const why = (path: string, changes: Partial<ExplainContext> = {}) =>
    explain(
      { config, synced: workshop.synced, disk: realDisk, status: OPEN, now: Date.now() + 5000, ...changes },
      { mirror, path },
    )
  return { ...workshop, config, why }
}

export const events = ({ history }: Explanation) => history.map(({ event }) => event)
