import { HOUR_MS } from '../../protocol/clock.ts'
import { retried, uncertain } from '../../records/pictures.ts'
import { locationOf } from '../../records/versions.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { FileKey } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import { because } from '../../words/reasons.ts'
import { DefaultAlbum } from '../albums/index.ts'
import { endLoss, mayArriveFor } from '../clock.ts'
import type { AlbumPort, EngineContext, RecordPort } from '../context.ts'
import { delivers, sentFor } from '../delivered/index.ts'
import { confirmedPattern, names } from '../listing/index.ts'
import { isNamed, type Pass } from '../pass-request.ts'
import { fullPath } from '../tree-path.ts'
import { foundInItsOwn, lookAtAlbum, type Recovery, record } from './album-recovery.ts'

/** Recovery finds out what became of uploads whose answer is not known. Nothing is sent meanwhile. First it asks whether the
 * promised address delivers the bytes. If not, it walks the album. An image with the promised id ends the doubt, and so does a
 * comparison with the only unrecorded image of the name. Otherwise the upload may still arrive until its credential has expired
 * (§8). After that, two complete walks in a row prove that it never did, and the file is pending again. What the host has
 * acknowledged is never sent again by itself. */
export async function recoverUploads(context: EngineContext, pass: Pass): Promise<void> {
  await endLoss(context)
  await settleJournal(context, pass)
  if (pass.task !== 'look') pass.notRecovered = await findOut(context, pass)
}

/** For the files that the pass names: those with an open upload become uncertain, and due failed ones are tried again. */
export async function settleJournal(
  { synced, clock, credentialLifetimeMs }: AlbumPort,
  pass: Pass,
): Promise<void> {
  const open = synced.journal.openUploads()
  const now = clock.wall()
  const due = synced.failures.due(now).filter(file => isOfPass(synced, pass, file))
  if (open.length === 0 && due.length === 0) return
  await synced.commit(tx => {
    for (const intent of open) doubtVersion(tx, intent, mayArriveFor(credentialLifetimeMs), now)
    retried(tx, due)
  })
}

/** The version that was sent may have arrived, so it is not sent again. When the file has changed, the new version is. */
function doubtVersion(tx: Tx, intent: OpenUpload, mayArriveMs: number, now: number): void {
  const { file_hash: hash, file_size: size, mtime, since } = intent
  const file = tx.files.at(intent)
  if (file?.state !== 'pending' || file.size !== size || file.mtime !== mtime) return
  const why = because('cut_off')
  uncertain(tx, file, { hash, since, until: since + mayArriveMs, why }, now)
}

/** The uploads in doubt that concern the pass: those that it names, and those for which a deletion in escrow waits. */
export function inDoubt({ synced }: RecordPort, pass: Pass): OpenUpload[] {
  const { journal, images, escrow } = synced
  const isAwaited = ({ hash }: OpenUpload) => images.byHash(hash).some(({ id }) => escrow.of(id))
  return journal.openUploads().filter(intent => isOfPass(synced, pass, intent) || isAwaited(intent))
}

function isOfPass(synced: Synced, pass: Pass, file: FileKey): boolean {
  const { mirror, path } = locationOf(synced, file)
  return isNamed(pass.named, fullPath(synced.mirrors.byId(mirror)!.folder, path))
}

/** Looks for the uploads in doubt. Nothing may upload meanwhile. Returns what kept an album from being walked, or null. */
export async function findOut(context: EngineContext, pass: Pass): Promise<HostFailure | null> {
  const { synced, clock, pace, credentialLifetimeMs } = context
  const propagating = pass.mirrors.filter(({ deletions }) => deletions === 'propagate')
  const recovery = { ...context, propagating: new Set(synced.mirrors.idsOf(propagating)) }
  const signal = pass.interruption.cut
  const delivered = new Set<number>()
  const began = clock.monotonic()
  const due = () => inDoubt(context, pass).filter(intent => pace.isDue(intent, began))
  for (const intent of due()) {
    if (signal.aborted) return null
    if (await lookAtDelivery(recovery, intent, signal)) delivered.add(intent.id)
  }
  const albums = new Set(due().map(({ album }) => album))
  let unlisted: HostFailure | null = null
  for (const album of albums) {
    if (signal.aborted) return null
    const failure = await lookAtAlbum(recovery, album, delivered, signal)
    // An outage ends the search, and will pass. A plan without listings stays, so the other albums are tried now.
    if (failure && failure.remedy !== 'plan') return failure
    unlisted ??= failure
  }
  for (const intent of due()) pace.looked(intent, began, intent.sent_at + mayArriveFor(credentialLifetimeMs))
  pace.keepOnly(synced.journal.openUploads())
  return unlisted
}

/** Whether the promised address delivers the upload's bytes. When the address also tells the image's id, records the image. */
async function lookAtDelivery(recovery: Recovery, intent: OpenUpload, signal: AbortSignal): Promise<boolean> {
  const { cdn_url, remote_id, album, hash } = intent
  // An address without the id may be that of another image of this name. The album's listing then tells.
  const isNamed = (image: ImageRow) => names(image.cdn_url, image.remote_id)
  if (await foundInItsOwn(recovery, intent, signal, { isIt: isNamed })) return true
  if (cdn_url === null || !(await delivers(recovery, cdn_url, sentFor(intent), signal))) return false
  // Two files with equal bytes may get the same address and id. Then the recorded id is the upload's.
  const known = recovery.synced.images.byHash(hash).find(image => image.cdn_url === cdn_url)
  const id = remote_id ?? known?.remote_id ?? confirmedPattern(recovery.synced)?.idOf(cdn_url) ?? null
  const before = id === null ? undefined : recovery.synced.images.byRemoteId(id)
  // Some hosts put a new version into the old version's image, which keeps its id and address. Where the id's record names
  // another address, this has not happened: the record is of another image, and the id is not the upload's.
  const isOther = before && !before.hash.equals(hash) && before.cdn_url !== cdn_url
  if (id === null || isOther) return true
  // An upload without an album has arrived in the account's default album.
  const place = known?.album ?? album ?? new DefaultAlbum().known(recovery)?.id ?? null
  await record(recovery, intent, { remote_id: id, cdn_url, album: place, proof: 'uploaded' })
  return true
}

/** How often an upload is looked for that was not sent a short time ago. Seldom, because each look costs a walk. */
const UNDECIDED_MS = HOUR_MS
/** For how long after it was sent an upload is looked for often. */
const EARLY_MS = 60_000
/** How often an upload is looked for that was sent a short time ago. */
const SOON_MS = 10_000

/** Tells when each upload in doubt is looked for again. A new process looks for all of them at once. */
export class RecoveryPace {
  readonly #next = new Map<number, number>()

  /** `now`: monotonic milliseconds. */
  isDue({ id }: OpenUpload, now: number): boolean {
    return now >= (this.#next.get(id) ?? Number.NEGATIVE_INFINITY)
  }

  /** Notes that an upload was looked for and not found. `endsAt`: when it can't arrive any more. */
  looked({ id, sent_at }: OpenUpload, now: number, endsAt: number): void {
    const soon = now + (now - sent_at < EARLY_MS ? SOON_MS : UNDECIDED_MS)
    // Once the upload can't arrive any more, it is looked for again.
    this.#next.set(id, now <= endsAt ? Math.min(soon, endsAt + 1) : soon)
  }

  keepOnly(open: readonly OpenUpload[]): void {
    const ids = new Set(open.map(({ id }) => id))
    for (const id of this.#next.keys()) if (!ids.has(id)) this.#next.delete(id)
  }
}
