import { DAY_MS, HOUR_MS } from '../protocol/clock.ts'
import { recordRunning } from '../records/escrow.ts'
import { versionsForgotten } from '../records/versions.ts'
import type { Block, HostFailure } from '../remote/host.ts'
import type { Tx } from '../synced/synced.ts'
import type { EngineContext, RecordPort } from './context.ts'
import {
  deleteDueImages,
  deleteUnusedAlbums,
  forgetOldDeletions,
  recoverAlbumDeletions,
  weighDeletions,
} from './deletions/index.ts'
import { Looks } from './looks.ts'
import { endingForOthers, type Pass, type PassReport, type PassRequest } from './pass-request.ts'
import { reviewAccount } from './quota/index.ts'
import { scanMirrors } from './scan/index.ts'
import { UnderWay } from './under-way.ts'
import { recoverUploads, refusals, uploadPending } from './uploads/index.ts'

/** One pass. Uploads come first, so that a picture that moved has its new image before its old one is deleted. */
export async function runPass(context: EngineContext, request: PassRequest): Promise<PassReport> {
  const { scopeOf = () => 'everything', task = 'mirror' } = request
  const looks = new Looks(context.lookAt)
  const underWay = new UnderWay((mirror, folders) => request.interruption.news?.add(mirror, folders))
  const began = context.clock.wall()
  const pass: Pass = { ...request, scopeOf, task, began, stopped: [], notRecovered: null, looks, underWay }
  try {
    await reviewAccount(context, pass)
    await recoverUploads(context, pass)
    await recoverAlbumDeletions(context, pass)
    const seen = await scanMirrors(context, pass)
    await weighDeletions(context, pass, seen)
    const scanned = await uploadPending(context, pass, seen)
    await deleteDueImages(context, pass, scanned)
    await deleteUnusedAlbums(context, pass)
    await recordPass(context, pass)
  } finally {
    looks.end()
  }
  return { stopped: pass.stopped }
}

/** How long history and the ids of deleted images are kept: longer than a host lists a deleted image. */
const KEPT_MS = 90 * DAY_MS
/** How many rows a commit deletes. Uploads wait for the commit, so they are few. */
const ROWS = 500
/** How many commits a pass makes to forget old rows. New pictures wait, so a later pass forgets the rest. */
const COMMITS = 20

/** Records what the host refuses, for `status` and the next process. Forgets old rows once an hour. */
async function recordPass(context: EngineContext, pass: Pass): Promise<void> {
  const { synced, clock } = context
  const { task, stopped, notRecovered, interruption } = pass
  if (task === 'look') return synced.commit(tx => recordTime(tx, context))
  if (notRecovered && synced.journal.oldestInDoubt() !== null) stopped.push(notRecovered)
  const mayPrune = await synced.commit(tx => {
    recordStates(tx, context, stopped)
    return isPruningDue(tx, clock.wall())
  })
  if (mayPrune) await prune(context, endingForOthers(interruption).stop)
}

/** Records what the host refuses now, for `status` and the next process. */
export function recordStates(tx: Tx, context: EngineContext, stopped: readonly HostFailure[]): void {
  const { host, clock, running } = context
  const now = clock.wall()
  const saidAt = (block: Block) => ({ ...block, said_at: now - (clock.monotonic() - block.since) })
  const said = stopped.filter(({ remedy, repeated }) => remedy !== 'cancelled' && !repeated)
  // All blocks of the host are recorded, also those that ended nothing in this pass. A block that was lifted for a try
  // (`untried`) is recorded too: it holds until the host has answered the try.
  const all = [
    ...host.blocks('untried').map(saidAt),
    ...said.map(failure => ({ ...failure, said_at: now })),
    ...host.blocks().map(saidAt),
  ]
  recordTime(tx, context)
  forgetOldDeletions(tx, running())
  const told = all.filter(({ remedy }) => remedy !== 'quota')
  // Where an endpoint has several blocks, only the last one in the list is recorded.
  const blocks = [...new Map(told.map(block => [block.endpoint, block])).values()]
  tx.account.clearBlocks([...blocks, ...refusals(tx)].map(({ endpoint }) => endpoint))
  for (const { endpoint, code, message, said_at } of blocks)
    tx.account.block({
      endpoint,
      code,
      message,
      since: Math.round(said_at),
      said_at: Math.round(said_at),
    })
}

/** Records what the next process needs to know about running time and clocks. */
function recordTime(tx: Tx, { ages, clock, running }: EngineContext): void {
  tx.mirrors.endPhases()
  recordRunning(tx, { now: clock.wall(), running: running() })
  tx.meta.set('wall_clock', ages.look(clock))
}

/** Whether old rows are to be forgotten. That is once an hour, because all rows are counted to find them. */
export function isPruningDue({ meta }: Tx, now: number): boolean {
  const before = meta.get('pruned_at') ?? Number.NaN
  // After the clock was set back, the recorded time may lie in the future. Old rows are forgotten then too.
  if (before <= now && now - before < HOUR_MS) return false
  meta.set('pruned_at', now)
  return true
}

/** Forgets history and deleted ids in small steps. */
export async function prune({ synced, clock }: RecordPort, stop: AbortSignal): Promise<void> {
  const { history, versions, deleted, commit } = synced
  const before = clock.wall() - KEPT_MS
  let excess = history.excess()
  let tooMany = versions.excess()
  let old = (history.oldest() ?? before) < before
  let longGone = deleted.isFrom(before)
  for (let commits = 0; commits < COMMITS && !stop.aborted; commits++) {
    if (old) old = (await commit(tx => tx.history.dropBefore({ moment: before, most: ROWS }))) === ROWS
    else if (excess > 0) {
      await commit(tx => tx.history.dropOldest(Math.min(ROWS, excess)))
      excess -= ROWS
    } else if (tooMany > 0) {
      await commit(tx => versionsForgotten(tx, Math.min(ROWS, tooMany)))
      tooMany -= ROWS
    } else if (longGone) longGone = (await commit(tx => tx.deleted.dropBefore(before, ROWS))) === ROWS
    else return
  }
}
