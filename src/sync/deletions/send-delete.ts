import { waitingMove } from '../../records/moves.ts'
import { isOfThisOne, wasNotDone } from '../../remote/failures.ts'
import type { HostFailure, ImageHost, Outcome } from '../../remote/host.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { albumName } from '../album.ts'
import type { Claims } from '../claims.ts'
import type { EngineContext } from '../context.ts'
import type { LastCheck } from './last-check.ts'

/** One DELETE (§4.5): what is deleted, by the host's id, and what is recorded before and after the request. */
export interface Deletion {
  target: { image: string } | { album: string }
  /** Records the intent, before the request leaves. */
  intend(tx: Tx): void
  /** Why the deletion must not be done, or null. Asked just before the request leaves: the gate may have held it back for
   * minutes, and a picture may have come back meanwhile. */
  whyNot(): Reason | null
  /** After a refusal: whether the host does not list the target any more. Not every host answers with §4.5's NOT_FOUND then. */
  isGone?(): Promise<boolean>
  /** Records that the host does not hold the target any more. `wasThere`: it held it until now. */
  done(tx: Tx, wasThere: boolean): void
  /** Takes the intent back, after the host answered that it deleted nothing. */
  notDone(tx: Tx, refusal: HostFailure): void
}

/** Sends a DELETE. No other function does. Returns the host's refusal, or null when the host does not hold the target any more.
 * When the answer is lost, the intent stays open, and the request is repeated. */
export async function sendDelete(
  { synced, host, claims }: Pick<EngineContext, 'synced' | 'host' | 'claims'>,
  { target, intend, whyNot, isGone, done, notDone }: Deletion,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  await synced.commit(intend)
  const mayLeave = () => claims.doubt() === null && whyNot() === null
  const answer =
    'image' in target
      ? await host.deleteImage(target.image, signal, mayLeave)
      : await host.deleteAlbum(target.album, signal, mayLeave)
  const hasGone =
    !answer.ok && (answer.failure.remedy === 'gone' || (isOfThisOne(answer.failure) && (await isGone?.())))
  const refusal = answer.ok || hasGone ? null : answer.failure
  if (refusal === null) await synced.commit(tx => done(tx, answer.ok))
  else if (wasNotDone(refusal)) await synced.commit(tx => notDone(tx, refusal))
  return refusal
}

/** For the doctor: asks whether key and plan allow deletions (§4.6). `id`: an id that no image has. */
export function askToDeleteNothing(host: ImageHost, id: string, signal: AbortSignal): Promise<Outcome<void>> {
  return host.deleteImage(id, signal)
}

/** What the disk shows of an image's pictures. */
export type DiskCheck = Pick<LastCheck, 'whyNotGone' | 'whyThere' | 'whyRestored' | 'doubt'>

interface Asked {
  synced: Synced
  claims: Pick<Claims, 'isOwn'>
  image: ImageRow
  /** The files that use the image, or used it before they went missing. */
  files: readonly FileRow[]
  entry: EscrowRow | undefined
  /** The disk. Null for the repair by an audit, which deletes only images that no file uses. */
  disk: DiskCheck | null
}

/** The questions that are asked, in this order, before an image is deleted. Each returns why the image stays, or null. */
const QUESTIONS: Readonly<Record<string, (asked: Asked) => Reason | null>> = {
  // In an album that several machines need, an image that was found by its bytes may be another machine's.
  isPerhapsAnothers: ({ synced, claims, image: { proof, album } }) =>
    (proof === 'uploaded' && synced.meta.get('promises_broken') === null) ||
    claims.isOwn(albumName(synced, album))
      ? null
      : because('perhaps_anothers'),
  isKeptForGood: ({ image }) => (image.kept === 1 ? because('kept_for_good') : null),
  isInUse: ({ files }) => (files.some(({ state }) => state !== 'gone') ? because('in_use') : null),
  // An upload in doubt may have put another version into it: a host may keep the id of a picture's image.
  isPerhapsReplaced: ({ synced, image, files }) =>
    synced.meta.get('versions_apart') === null &&
    files.some(file => synced.journal.openOnFile(file).some(({ hash }) => !hash.equals(image.hash)))
      ? because('version_open')
      : null,
  // The picture may have been renamed, and a file that is not uploaded yet be the picture under its new name.
  mayHaveMoved({ synced, image }) {
    const move = waitingMove(synced, image)
    return move && because(move.isRead ? 'moved_unsent' : 'may_have_moved', { path: move.told })
  },
  isThereAgain({ files, disk }) {
    for (const file of files) {
      const why = disk?.whyNotGone(file)
      if (why) return why
    }
    return null
  },
  isLocationTaken: ({ files, entry, disk }) =>
    files.length === 0 && entry ? (disk?.whyThere(entry) ?? null) : null,
  isDiskInDoubt: ({ disk }) => disk?.doubt() ?? null,
  isBeingRestored: ({ entry, disk }) => (entry ? (disk?.whyRestored(entry) ?? null) : null),
}

/** Why an image must not be deleted now, or null. The records and the disk are asked anew by each call. */
export function whyImageStays(
  { synced, claims }: Pick<Asked, 'synced' | 'claims'>,
  image: ImageRow,
  disk: DiskCheck | null,
): Reason | null {
  const asked = {
    synced,
    claims,
    image,
    disk,
    files: synced.files.onImage(image.id),
    entry: synced.escrow.of(image.id),
  }
  for (const question of Object.values(QUESTIONS)) {
    const why = question(asked)
    if (why !== null) return why
  }
  return null
}
