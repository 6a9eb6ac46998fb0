import type { HostFailure } from '../remote/host.ts'
import type { Synced } from '../synced/synced.ts'
import type { EscrowRow } from '../synced/tables/escrow.ts'
import type { FileRow } from '../synced/tables/files.ts'
import type { OpenUpload } from '../synced/tables/journal.ts'
import { findOutAboutAlbums } from './albums/lost-albums.ts'
import type { EngineContext } from './context.ts'
import { mayArriveFor } from './credential-life.ts'
import { doubtAbout } from './deletions/doubt.ts'
import { giveUpEmptyAlbums, repeatAlbumDeletions } from './deletions/empty-albums.ts'
import { giveUpImages } from './deletions/give-up.ts'
import { Ground } from './deletions/ground.ts'
import { weighDeletions } from './deletions/hold.ts'
import { keepImages } from './deletions/keep-images.ts'
import { giveUpWholeAlbums } from './deletions/whole-albums.ts'
import type { Interruption } from './interruption.ts'
import { endLoss } from './lost-records.ts'
import { isPruningDue, prune } from './prune.ts'
import { noticePlan } from './quota/plan-change.ts'
import { askAboutSize } from './quota/size-limit.ts'
import { recordStates, recordTime } from './record-states.ts'
import {
  checkRootsAgain,
  type MirrorPolicy,
  type ScannedMirror,
  type Scope,
  scanMirrors,
} from './scan/mirror-scans.ts'
import { recoverUploads } from './uploads/recovery.ts'
import { comparePending, sendPending } from './uploads/send-pending.ts'
import { uncertainty } from './uploads/upload-outcome.ts'

export interface PassParts extends EngineContext {
  /** True: pictures are linked to what the host holds already; nothing is sent, made or given up. */
  onlyAdopt?: boolean
  /** True: what there is on the disk is recorded, and the host is left alone. */
  onlyLook?: boolean
}

/** How often a refused key is asked about. */
const HOUR_MS = 3_600_000

export interface PassReport {
  /** What ended uploads or deletions early. */
  stopped: HostFailure[]
}

/**
 * One pass: scan every mirror, send what is pending, then give up what is no longer there. New images come before old
 * ones go.
 */
export async function runPass(
  parts: PassParts,
  mirrors: readonly MirrorPolicy[],
  scopeOf: (mirror: MirrorPolicy) => Scope,
  interruption: Interruption,
): Promise<PassReport> {
  parts.vanishedRules.passBegins()
  await endLoss(parts)
  await settleJournal(parts)
  await noticePlan(parts)
  if (parts.onlyLook) return look(parts, mirrors, scopeOf, interruption)
  tryAgain(parts)
  await askAboutSize(parts)
  const stopped: HostFailure[] = []
  const unknown = await findOut(parts, mirrors, interruption)
  const repeated = parts.onlyAdopt
    ? null
    : ((await findOutAboutAlbums(parts, interruption.cut)) ??
      (await repeatAlbumDeletions(parts, mirrors, interruption)))
  if (repeated) stopped.push(repeated)
  const mirrored = await mirrorUp(parts, mirrors, scopeOf, interruption, stopped)
  const due = parts.synced.escrow.nextDue(mirrored.map(({ row }) => row.id))
  if (due !== null && due <= parts.running() && !parts.onlyAdopt && !interruption.makeWay?.aborted)
    await giveUp(parts, mirrors, mirrored, interruption, stopped)
  const empty =
    parts.onlyAdopt || stopped.length > 0
      ? null
      : await giveUpEmptyAlbums(parts, mirrors, endingForNews(interruption))
  if (empty) stopped.push(empty)
  if (unknown && parts.synced.journal.oldestInDoubt() !== null) stopped.push(unknown)
  const mayPrune = await parts.synced.commit(() => {
    recordStates(parts, stopped)
    return isPruningDue(parts.synced, parts.clock.wall())
  })
  if (mayPrune) await prune(parts, endingForOthers(interruption).stop)
  return { stopped }
}

/** What a pass does while albumd is paused: what it finds is done once it is not. */
async function look(
  parts: PassParts,
  mirrors: readonly MirrorPolicy[],
  scopeOf: (mirror: MirrorPolicy) => Scope,
  { stop }: Interruption,
): Promise<PassReport> {
  await scanMirrors(parts, mirrors, scopeOf, stop)
  await parts.synced.commit(() => recordTime(parts))
  return { stopped: [] }
}

/** For what does not scan: it ends at once for others too. */
function endingForOthers({ stop, makeWay, ...rest }: Interruption): Interruption {
  return { ...rest, stop: makeWay ? AbortSignal.any([stop, makeWay]) : stop }
}

/** For deletions, which may take hours at the host's rate. */
function endingForNews({ pauseDeletions, ...rest }: Interruption): Interruption {
  const ending = endingForOthers(rest)
  return pauseDeletions ? { ...ending, stop: AbortSignal.any([ending.stop, pauseDeletions]) } : ending
}

/** What an earlier pass left open. A deletion stays in doubt until it is repeated, an album until it is looked for. */
async function settleJournal({ synced, clock, credentialLifetimeMs }: PassParts): Promise<void> {
  const open = synced.journal.openUploads()
  const due = synced.failures.due(clock.wall())
  if (open.length === 0 && due.length === 0) return
  await synced.commit(() => {
    for (const intent of open) doubtVersion(synced, intent, mayArriveFor(credentialLifetimeMs))
    for (const { folder, name } of due) synced.files.retry({ folder, name })
  })
}

/** The version that may have arrived is not sent again; another one is. */
function doubtVersion({ files, failures, history }: Synced, intent: OpenUpload, mayArriveMs: number): void {
  const { hash, size, mtime, since } = intent
  const file = files.at(intent)
  if (file?.state !== 'pending' || file.size !== size || file.mtime !== mtime) return
  files.put({ ...file, state: 'uncertain', since, hash })
  const why = 'its upload was cut off when albumd ended'
  failures.put(uncertainty(file, why, since + mayArriveMs))
  history.ofFile(file, { at: since, event: 'uncertain', detail: why })
}

/** What has been shut for long enough is tried again. A used-up quota is the uploads' matter. */
function tryAgain({ synced, host, clock, allowance }: PassParts): void {
  const recorded = new Set(synced.account.blocks().map(({ endpoint }) => endpoint))
  for (const { endpoint, remedy, since } of host.blocks()) {
    const every = remedy === 'key' ? HOUR_MS : allowance.probeEveryMs
    // One that was recorded and is no longer was forgotten by a person.
    const isOver = clock.monotonic() - since >= every || !recorded.has(endpoint)
    if (remedy !== 'quota' && isOver) host.unblock(endpoint)
  }
}

/** Finds out what became of the uploads in doubt. Answers why it could not look. */
function findOut(
  parts: PassParts,
  mirrors: readonly MirrorPolicy[],
  { cut }: Interruption,
): Promise<HostFailure | null> {
  const { mirrors: rows } = parts.synced
  const propagating = mirrors.flatMap(({ folder, deletions }) =>
    deletions === 'propagate' ? (rows.of(folder)?.id ?? []) : [],
  )
  return recoverUploads({ ...parts, propagating: new Set(propagating) }, cut)
}

/** Looks at the mirrors and sends what is new there. */
async function mirrorUp(
  parts: PassParts,
  mirrors: readonly MirrorPolicy[],
  scopeOf: (mirror: MirrorPolicy) => Scope,
  interruption: Interruption,
  stopped: HostFailure[],
): Promise<ScannedMirror[]> {
  const scanned = await scanMirrors(parts, mirrors, scopeOf, interruption.stop)
  const sending = { ...parts, findOut: () => findOut(parts, mirrors, interruption) }
  // What ended the uploads a moment ago would end them again, and outside their hours they do not begin.
  const mayBegin = stopped.length === 0 && !interruption.pauseUploads?.aborted
  const ended = mayBegin ? await sendPending(sending, scanned, interruption) : null
  if (ended) stopped.push(ended)
  if ((ended || !mayBegin) && !parts.onlyAdopt) await comparePending(sending, scanned, interruption)
  return scanned
}

/**
 * Gives up what was found gone, after everything was looked at once more: a picture that moved behind the scan's back
 * is found then, in whatever mirror, and sent first. What this look finds gone waits for the next pass.
 */
async function giveUp(
  parts: PassParts,
  mirrors: readonly MirrorPolicy[],
  before: readonly ScannedMirror[],
  interruption: Interruption,
  stopped: HostFailure[],
): Promise<void> {
  const { synced } = parts
  const known = new Set(before.flatMap(({ row }) => synced.escrow.ofMirror(row.id).map(({ image }) => image)))
  const scanned = await mirrorUp(parts, mirrors, () => 'everything', interruption, stopped)
  await checkRootsAgain(parts, scanned)
  const doubt = doubtAbout(synced, mirrors)
  for (const mirror of scanned) {
    if (mirror.policy.deletions === 'keep') await keepAll(parts, mirror)
    else if (doubt === null) {
      const failure = await giveUpMirror(parts, mirror, scanned, known, endingForNews(interruption))
      if (failure) stopped.push(failure)
    }
  }
}

/** A mirror that is a backup now keeps what it was about to give up. */
async function keepAll({ synced, clock }: PassParts, { row }: ScannedMirror): Promise<void> {
  const images = synced.escrow.ofMirror(row.id).map(({ image }) => image)
  if (images.length > 0) await synced.commit(() => keepImages(synced, images, clock.wall()))
}

async function giveUpMirror(
  parts: PassParts,
  mirror: ScannedMirror,
  scanned: readonly ScannedMirror[],
  known: ReadonlySet<number>,
  interruption: Interruption,
): Promise<HostFailure | null> {
  const { synced, tell, hold, running } = parts
  const named = { id: mirror.row.id, folder: mirror.policy.folder }
  await weighDeletions(synced, tell, named, hold, running(), parts.clock.wall())
  const ground = new Ground(parts, scanned)
  const doubt = () => ground.doubtOfAny()
  const whyNotGone = (file: FileRow) => ground.whyNotGone(file)
  const whyThere = ({ path }: EscrowRow) => ground.whyThere(mirror, path)
  const means = { ...parts, doubt, whyNotGone, whyThere, known }
  const policies = scanned.map(({ policy }) => policy)
  const whole =
    parts.albumDeletions === 'recursive'
      ? await giveUpWholeAlbums(means, policies, named, interruption)
      : null
  return whole ?? giveUpImages(means, named, interruption)
}
