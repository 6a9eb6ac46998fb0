import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../protocol/clock.ts'
import type { HostFailure } from '../../remote/host.ts'
import { albumName } from '../../sync/album.ts'
import {
  type AuditContext,
  deleteTwice,
  isOurs,
  type Repairs,
  repairGone,
  runAudit,
  unsureFor,
} from '../../sync/audit/index.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Finding } from '../../synced/tables/audit.ts'
import type { FileKey } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { inWords } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import type { Engine } from '../engine/engine.ts'
import { type LeftOf, statusOf, type Verdict, verdictOn } from '../report/status.ts'
import { pauseAt, pauseInWords } from '../state/pause.ts'
import { type Command, type CommandContext, NotPossible } from './command.ts'

interface AuditDone {
  result: AuditResult | null
  verdict: Verdict
  left: readonly LeftOf[]
}

export const auditCommand: Command<{ repair: boolean }, AuditDone> = {
  request: z => z.strictObject({ repair: z.boolean() }),
  needsHost: true,
  async carryOut(context, { repair }) {
    const { config, synced } = context
    if (synced.audit.albums().length === 0) return { result: null, verdict: 'left', left: [] }
    const paused = repair ? pauseAt(synced, systemClock.wall()) : null
    if (paused) throw new NotPossible(`Nothing can be repaired: ${pauseInWords(paused)}`, 'PAUSED')
    for (;;) {
      const { result, gaveWay } = await auditForAWhile(context, repair)
      if (gaveWay && !result.finished && result.stopped.length === 0) {
        await context.giveWay()
        continue
      }
      if (result.finished) noteAudit(context.engine(), result)
      if (!repair) return { result, verdict: 'in_sync', left: [] }
      const status = statusOf(config, synced, true, systemClock.wall())
      return { result, verdict: verdictOn(status, result.stopped), left: status.mirrors }
    }
  },
}

const FINDINGS_TOLD = 100

/** Publishes what an audit found, once it has reached the last album. Who asked for the audit does not matter. */
export function noteAudit(
  { note }: Pick<Engine, 'note'>,
  { albums, findings, skipped }: Pick<AuditResult, 'albums' | 'findings' | 'skipped'>,
): void {
  for (const { kind, album, name, detail } of findings.slice(0, FINDINGS_TOLD))
    note({ event: 'audit_found', kind, album, name, detail })
  note({ event: 'audit_finished', albums, findings: findings.length, skipped: skipped.length })
}

/** Audits until other work waits. The walk ends after an album, and the next call goes on with the next album. */
async function auditForAWhile(
  context: CommandContext,
  repair: boolean,
): Promise<{ result: AuditResult; gaveWay: boolean }> {
  const { config, interruption, output } = context
  const leave = new AbortController()
  const engine = { context: context.engine().context, pass: () => context.pass({ task: 'put' }) }
  // Other work ends only the walk. When the walk is finished, all repairs are made.
  const stop = AbortSignal.any([interruption.stop, leave.signal])
  let steps = 0
  const progress = (done: number, albums: number) => {
    output.progress(done, albums)
    // Each call compares at least one album. Otherwise the audit would never end while pictures change all day.
    if (steps++ > 0 && context.othersWait()) leave.abort()
  }
  const result = await audit(config, engine, repair, { ...interruption, stop }, progress)
  return { result, gaveWay: leave.signal.aborted && !interruption.stop.aborted }
}

export interface AuditFinding {
  kind: Finding['kind']
  /** The album's path on the host; '' is the root. */
  album: string
  /** An image in an album that no folder has is named with that album: `Holiday/a.png`. */
  name: string
  image_id: string
  detail: string
  /** Whether the records know the image's id. An audit never deletes an image that the records do not know. */
  ours: boolean
  repaired: boolean
  /** The picture of a repaired image still waits to be uploaded again, for example because the day's quota is used up. */
  waits: boolean
  /** The picture of an image that is gone is not on the disk either, and nothing has its bytes. A repair found this. */
  lost: boolean
  /** ISO 8601: until then a repair leaves `gone` images alone, because the host may list them late. Null: it need not wait. */
  repair_from: string | null
}

export interface AuditResult {
  /** Whether the walk reached the last album. Otherwise the next walk goes on with the next album. */
  finished: boolean
  complete: boolean
  albums: number
  skipped: { album: string; reason: string }[]
  findings: AuditFinding[]
  /** How many images were not deleted, because a person must approve so many deletions. */
  withheld: number
  stopped: HostFailure[]
}

/** Compares the host's listings with the records. `repair`: uploads again what is gone
 * from the host, and deletes recorded second copies. */
export async function audit(
  config: Pick<Config, 'host' | 'deletions'>,
  { context, pass: makePass }: Pick<Engine, 'context' | 'pass'>,
  repair: boolean,
  interruption: Interruption,
  progress: (done: number, albums: number) => void,
): Promise<AuditResult> {
  const { synced } = context
  // The walk sends at most half as many requests as the rate permits, so that other work can send the rest.
  const gapMs = 2000 / config.host.requests_per_second.list
  const { albums, skipped, finished, stopped } = await runAudit({ ...context, gapMs, progress }, interruption)
  // What an earlier audit found in albums that this audit has not reached is not told.
  const findings = synced.audit.findings().filter(({ album }) => finished || synced.audit.isDone(album))
  // The findings are put into words before the repair, because the repair changes the records.
  const found = findings.map(finding => shown(context, finding))
  const gone = findings.flatMap(({ kind, remote_id }) => {
    const image = kind === 'gone' ? synced.images.byRemoteId(remote_id) : undefined
    return image ? { image, files: synced.files.onImage(image.id) } : []
  })
  const resultOf = (repaired: readonly Finding[], withheld: number, failures: (HostFailure | null)[]) => {
    const done = new Set(repaired.map(({ kind, remote_id }) => `${kind} ${remote_id}`))
    const lost = new Set(gone.flatMap(one => (isLost(synced, one) ? one.image.remote_id : [])))
    const waiting = new Set(
      gone.flatMap(({ image, files }) =>
        files.some(file => synced.files.at(file)?.state === 'pending') ? image.remote_id : [],
      ),
    )
    return {
      finished,
      complete: finished && skipped.length === 0,
      albums,
      skipped: skipped.map(({ album, reason }) => ({ album, reason: inWords(reason) })),
      findings: found.map(finding => {
        const isDone = done.has(`${finding.kind} ${finding.image_id}`)
        const isGone = finding.kind === 'gone' && lost.has(finding.image_id)
        const waits = isDone && finding.kind === 'gone' && waiting.has(finding.image_id)
        return { ...finding, repaired: isDone && !isGone, waits, lost: isDone && isGone }
      }),
      withheld,
      stopped: failures.filter(failure => failure !== null),
    }
  }
  if (stopped) await recordBlock(synced, stopped, context.clock.wall())
  if (stopped || !repair || !finished) return resultOf([], 0, [stopped])
  const uploads = await repairGone(context, interruption)
  const pass = uploads.stopped ? null : await makePass(interruption)
  // Nothing is deleted while any mirror is guarded, or while albumd is paused.
  const inDoubt = synced.mirrors.all().some(({ guard }) => guard !== null)
  const mayGo = () => pauseAt(synced, context.clock.wall()) === null
  const deletions =
    pass === null || inDoubt || !mayGo()
      ? NOTHING
      : await deleteTwice(context, config.deletions.hold_min, interruption, mayGo)
  return resultOf([...uploads.repaired, ...deletions.repaired], deletions.withheld, [
    uploads.stopped,
    deletions.stopped,
    ...(pass?.stopped ?? []),
  ])
}

/** Whether the picture of an image that was not found is lost: it has no file, and no other image or file has its bytes. */
function isLost(
  { files, images }: Synced,
  { image, files: users }: { image: ImageRow; files: readonly FileKey[] },
): boolean {
  if (users.some(({ folder, name }) => files.at({ folder, name }) !== undefined)) return false
  // An unread file of the same size may be the picture, moved.
  return images.byHash(image.hash).length === 0 && files.openLike(image) === undefined
}

const NOTHING: Repairs = { repaired: [], withheld: 0, stopped: null }

function shown(context: AuditContext, { kind, album, name, remote_id, detail }: Finding) {
  const { synced, clock } = context
  const image = kind === 'gone' ? synced.images.byRemoteId(remote_id) : undefined
  const wait = image ? unsureFor(context, image) : 0
  return {
    kind,
    album: albumName(synced, album),
    name,
    image_id: remote_id,
    detail: inWords(detail),
    ours: isOurs(synced, remote_id),
    repair_from: wait > 0 ? isoTime(clock.wall() + wait) : null,
  }
}

/** Records that the plan or the key forbids the audit, so that `status` shows this until it is tried again. */
async function recordBlock({ commit }: Synced, failure: HostFailure, now: number): Promise<void> {
  const { endpoint, code, message, remedy, repeated } = failure
  if (remedy !== 'plan' && remedy !== 'key') return
  if (!repeated) await commit(tx => tx.account.block({ endpoint, code, message, since: now, said_at: now }))
}
