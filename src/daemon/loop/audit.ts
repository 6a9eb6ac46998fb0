import type { Config } from '../../config/schema.ts'
import type { HostFailure } from '../../remote/host.ts'
import { albumName } from '../../sync/albums/album.ts'
import { runAudit } from '../../sync/audit/audit.ts'
import { deleteTwice, isOurs, type Repairs, repairGone } from '../../sync/audit/audit-repair.ts'
import type { EngineContext } from '../../sync/context.ts'
import type { Interruption } from '../../sync/interruption.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Finding } from '../../synced/tables/audit.ts'
import { inWords } from '../../words/reasons.ts'
import type { Mirroring } from './mirroring.ts'
import { pauseAt } from './pause.ts'

/** A finding for people and programs. */
export interface AuditFinding {
  kind: Finding['kind']
  /** Its path on the host; '' is the root. */
  album: string
  name: string
  image_id: string
  detail: string
  /** Whether the records know the id: nothing else is ever deleted. */
  ours: boolean
  repaired: boolean
}

export interface AuditResult {
  /** Whether the walk came to its end; else the next one goes on where this one was. */
  finished: boolean
  /** Whether every album was compared. */
  complete: boolean
  albums: number
  /** Albums that could not be compared, and why. */
  skipped: { album: string; reason: string }[]
  findings: AuditFinding[]
  /** Deletions that are too many to be done unasked. */
  withheld: number
  /** What the host answered that ended work early. */
  stopped: HostFailure[]
}

/**
 * Compares the host's listing with the records. `repair`: uploads what is gone, by a pass, then deletes what is there
 * twice and ours.
 */
export async function audit(
  config: Pick<Config, 'host' | 'deletions'>,
  mirroring: Pick<Mirroring, 'pass'> & { readonly parts: EngineContext },
  repair: boolean,
  interruption: Interruption,
  progress: (done: number, albums: number) => void,
): Promise<AuditResult> {
  const { parts } = mirroring
  const { synced } = parts
  // Every second of the requests that are permitted is left to others.
  const gapMs = 2000 / config.host.requests_per_second.list
  const { albums, skipped, finished, stopped } = await runAudit({ ...parts, gapMs, progress }, interruption)
  const found = synced.audit.findings().map(finding => shown(synced, finding))
  const complete = finished && skipped.length === 0
  const result: AuditResult = {
    finished,
    complete,
    albums,
    skipped,
    findings: found,
    withheld: 0,
    stopped: [],
  }
  if (stopped) {
    await recordBlock(synced, stopped, parts.clock.wall())
    return { ...result, stopped: [stopped] }
  }
  if (!repair || !finished) return result
  const uploads = await repairGone(parts, interruption)
  const pass = uploads.stopped ? null : await mirroring.pass(interruption)
  const deletions = pass ? await deleteIfSure(parts, config.deletions.hold_min, interruption) : NOTHING
  const repaired = new Set([...uploads.repaired, ...deletions.repaired].map(keyOf))
  return {
    ...result,
    findings: found.map(finding => ({ ...finding, repaired: repaired.has(keyOf(finding)) })),
    withheld: deletions.withheld,
    stopped: [uploads.stopped, deletions.stopped, ...(pass?.stopped ?? [])].filter(
      failure => failure !== null,
    ),
  }
}

const NOTHING: Repairs = { repaired: [], withheld: 0, stopped: null }

/** Nothing is deleted while the local truth of a mirror is in doubt, nor from the moment on when a person pauses albumd. */
function deleteIfSure(parts: EngineContext, most: number, interruption: Interruption): Promise<Repairs> {
  const { synced, clock } = parts
  const inDoubt = synced.mirrors.all().some(({ guard }) => guard !== null)
  const mayGo = () => pauseAt(synced, clock.wall()) === null
  return inDoubt || !mayGo() ? Promise.resolve(NOTHING) : deleteTwice(parts, most, interruption, mayGo)
}

function shown(synced: Synced, { kind, album, name, remote_id, detail }: Finding): AuditFinding {
  const ours = isOurs(synced, { remote_id })
  return {
    kind,
    album: albumName(synced, album),
    name,
    image_id: remote_id,
    detail: inWords(detail),
    ours,
    repaired: false,
  }
}

function keyOf(
  finding: Pick<Finding, 'kind' | 'remote_id'> | Pick<AuditFinding, 'kind' | 'image_id'>,
): string {
  return `${finding.kind} ${'remote_id' in finding ? finding.remote_id : finding.image_id}`
}

/** What a plan forbids stands in `status` until it is tried again. */
async function recordBlock({ commit }: Synced, failure: HostFailure, now: number): Promise<void> {
  const { endpoint, code, message, remedy, repeated } = failure
  if (remedy !== 'plan' && remedy !== 'key') return
  if (!repeated) await commit(tx => tx.account.block({ endpoint, code, message, since: now, said_at: now }))
}
