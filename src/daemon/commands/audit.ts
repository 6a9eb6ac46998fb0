import { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import type { HostFailure } from '../../remote/host.ts'
import { albumName, albumPathOf } from '../../sync/album.ts'
import { deleteTwice, isOurs, type Repairs, repairGone, runAudit } from '../../sync/audit/index.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { fullPath } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Finding } from '../../synced/tables/audit.ts'
import { inWords } from '../../words/reasons.ts'
import type { Engine } from '../engine/engine.ts'
import { statusOf, type Verdict, verdictOn } from '../report/status.ts'
import { pauseAt, pauseInWords } from '../state/pause.ts'
import { type Command, type CommandContext, NotPossible } from './command.ts'

interface AuditDone {
  /** Null: no album is recorded that could be compared. */
  result: AuditResult | null
  verdict: Verdict
}

export const auditCommand: Command<{ repair: boolean }, AuditDone> = {
  request: z.strictObject({ repair: z.boolean() }),
  needsHost: true,
  async carryOut(context, { repair }) {
    const { config, synced } = context
    if (synced.audit.albums().length === 0) return { result: null, verdict: 'left' }
    const paused = repair ? pauseAt(synced, Date.now()) : null
    if (paused) throw new NotPossible(`nothing can be repaired: ${pauseInWords(paused)}`, 'PAUSED')
    for (;;) {
      const { result, gaveWay } = await auditForAWhile(context, repair)
      if (gaveWay && !result.finished && result.stopped.length === 0) {
        await context.giveWay()
        continue
      }
      const status = () => statusOf(config, synced, true, Date.now())
      return { result, verdict: repair ? verdictOn(status(), result.stopped) : 'in_sync' }
    }
  },
}

/** Audits until other work waits. It ends between two albums, and the next call goes on with the next album. */
async function auditForAWhile(
  context: CommandContext,
  repair: boolean,
): Promise<{ result: AuditResult; gaveWay: boolean }> {
  const { config, interruption, output } = context
  const leave = new AbortController()
  const engine = { context: context.engine().context, pass: () => context.pass() }
  // Only the walk ends early. Once it is finished, all repairs are made.
  const stop = AbortSignal.any([interruption.stop, leave.signal])
  let steps = 0
  const progress = (done: number, albums: number) => {
    output.progress(done, albums)
    // At least one album is compared each time. Otherwise the audit would never end while pictures change all day.
    if (steps++ > 0 && context.othersWait()) leave.abort()
  }
  const result = await audit(config, engine, repair, { ...interruption, stop }, progress)
  return { result, gaveWay: leave.signal.aborted && !interruption.stop.aborted }
}

/** A finding for people and programs. */
export interface AuditFinding {
  kind: Finding['kind']
  /** The album's path on the host; '' is the root. */
  album: string
  name: string
  image_id: string
  detail: string
  /** Whether the records know the image's id. Only such images are ever deleted. */
  ours: boolean
  repaired: boolean
}

/** `path`: of the file. `album`: where its image lies, `belongs_in`: its own album. Both slash-separated; '' is the root. */
export interface AuditFlat {
  path: string
  album: string
  belongs_in: string
}

export interface AuditResult {
  /** Whether the walk ended with the last album. Otherwise the next walk goes on where this one ended. */
  finished: boolean
  /** Whether every album was compared. */
  complete: boolean
  albums: number
  /** Albums that could not be compared, and why. */
  skipped: { album: string; reason: string }[]
  findings: AuditFinding[]
  /**
   * Pictures that lie flat: outside their own albums, which could not be had. They are no difference, and an audit does
   * not repair them.
   */
  flat: AuditFlat[]
  /** How many deletions were not done, because so many need a person's word. */
  withheld: number
  /** The host's answers that ended the work early. */
  stopped: HostFailure[]
}

/**
 * Compares the host's listing with the records. `repair`: then a pass uploads the images that are gone, and images that
 * are there twice are deleted, if the records know them.
 */
export async function audit(
  config: Pick<Config, 'host' | 'deletions'>,
  { context, pass: makePass }: Pick<Engine, 'context' | 'pass'>,
  repair: boolean,
  interruption: Interruption,
  progress: (done: number, albums: number) => void,
): Promise<AuditResult> {
  const { synced } = context
  // Half of the permitted requests is left to other work.
  const gapMs = 2000 / config.host.requests_per_second.list
  const { albums, skipped, finished, stopped } = await runAudit({ ...context, gapMs, progress }, interruption)
  // Told now, because a repair changes the records.
  const found = synced.audit.findings().map(finding => shown(synced, finding))
  const flat = flatPictures(synced)
  const resultOf = (repaired: readonly Finding[], withheld: number, failures: (HostFailure | null)[]) => {
    const done = new Set(repaired.map(({ kind, remote_id }) => `${kind} ${remote_id}`))
    return {
      finished,
      complete: finished && skipped.length === 0,
      albums,
      skipped: skipped.map(({ album, reason }) => ({ album, reason: inWords(reason) })),
      findings: found.map(finding => ({
        ...finding,
        repaired: done.has(`${finding.kind} ${finding.image_id}`),
      })),
      flat,
      withheld,
      stopped: failures.filter(failure => failure !== null),
    }
  }
  if (stopped) await recordBlock(synced, stopped, context.clock.wall())
  if (stopped || !repair || !finished) return resultOf([], 0, [stopped])
  const uploads = await repairGone(context, interruption)
  const pass = uploads.stopped ? null : await makePass(interruption)
  // Nothing is deleted while any mirror is guarded, nor after a person has paused albumd.
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

const NOTHING: Repairs = { repaired: [], withheld: 0, stopped: null }

/** So many pictures of a mirror that lie flat are named. `status` counts all of them. */
const FLAT_MOST = 1000

function flatPictures(synced: Synced): AuditFlat[] {
  return synced.mirrors.all().flatMap(mirror =>
    synced.summaries.flatOf(mirror.id, FLAT_MOST).map(({ path, folder, album }) => ({
      path: fullPath(mirror.folder, path),
      album: albumName(synced, album),
      belongs_in: albumPathOf(mirror.album, folder).join('/'),
    })),
  )
}

function shown(synced: Synced, { kind, album, name, remote_id, detail }: Finding) {
  const ours = isOurs(synced, { remote_id })
  return { kind, album: albumName(synced, album), name, image_id: remote_id, detail: inWords(detail), ours }
}

/** Records what plan or key forbid, so that `status` shows it until it is tried again. */
async function recordBlock({ commit }: Synced, failure: HostFailure, now: number): Promise<void> {
  const { endpoint, code, message, remedy, repeated } = failure
  if (remedy !== 'plan' && remedy !== 'key') return
  if (!repeated) await commit(tx => tx.account.block({ endpoint, code, message, since: now, said_at: now }))
}
