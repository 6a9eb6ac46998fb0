import type { Millis } from '../protocol/clock.ts'
import type { Records, Tx } from '../synced/synced.ts'
import type { FileKey, FileRow, FileState } from '../synced/tables/files.ts'
import type { Location } from '../synced/tables/history.ts'
import type { ImageRow } from '../synced/tables/images.ts'
import type { Gap } from '../synced/tables/meta.ts'
import type { VersionRow } from '../synced/tables/versions.ts'
import { ledgerTime, wallTime } from './ledger-time.ts'

/* All times here are ledger times, except where a comment names the wall clock. */

/** The states of a file that is not on the disk any more. */
const GONE: ReadonlySet<FileState | null> = new Set(['gone', 'kept', null])

/** Whether a file in this state is at its path. Null: the file has no record. */
export function isAtPath(state: FileState | null): boolean {
  return !GONE.has(state)
}

export function locationOf({ folders }: Pick<Records, 'folders'>, { folder, name }: FileKey): Location {
  const { mirror, path } = folders.byId(folder)!
  return { mirror, path: path === '' ? name : `${path}/${name}` }
}

/** The picture at a path does not use this image any more. `file`: its record, when it still tells of the image's version. */
export function versionEnded(
  tx: Tx,
  { mirror, path }: Location,
  image: ImageRow,
  now: Millis,
  file?: FileRow,
): void {
  const { recorded_at, hash, size, mtime } = image
  const isOfFile = tx.images.isOf(image, file?.hash)
  tx.versions.add({
    mirror,
    path,
    since: recorded_at,
    until: now,
    hash,
    size,
    mtime: isOfFile ? file!.mtime : mtime,
  })
}

/** The picture at a path uses this image from now on. `began`: when the version began. When the picture has moved, that is before
 * the image was recorded; when the picture came later, after. */
export function versionBegan(
  tx: Tx,
  { mirror, path }: Location,
  { recorded_at, hash, size, mtime }: ImageRow,
  began: Millis,
): void {
  const at = { mirror, path }
  if (began < recorded_at) tx.versions.add({ ...at, since: began, until: recorded_at, hash, size, mtime })
  else if (began > recorded_at)
    tx.versions.add({ ...at, since: 0, until: began, hash: null, size: null, mtime: null })
}

/** When the version at a path began: when a scan found its bytes, or the host had them, whichever was later. */
export function versionStart(
  { images, meta }: Pick<Records, 'images' | 'meta'>,
  { since, ctime }: Pick<FileRow, 'since' | 'ctime'>,
  hash: Buffer,
  now: Millis,
): Millis {
  const held = images.heldSince({ hash }) ?? now
  // A file that changed while it waited has had these bytes for a shorter time than it has waited.
  const found = since === null ? now : ledgerTime({ meta }, since)
  return Math.min(now, Math.max(held, found, ledgerTime({ meta }, Math.ceil(ctime / 1000))))
}

/** The host holds an image of these bytes, so their versions can be restored. */
export function bytesHeld(tx: Tx, hash: Buffer): void {
  tx.versions.hold({ hash, given_up: 0 })
}

/** The record of an image was removed. When it was the last image of these bytes, their versions can't be restored. */
export function bytesGivenUp(tx: Tx, hash: Buffer): void {
  if (tx.images.byHash(hash).length === 0) tx.versions.hold({ hash, given_up: 1 })
}

/** Forgets the oldest versions. Which versions before their end the host has given up is not known any more. */
export function versionsForgotten(tx: Tx, most: number): void {
  const until = tx.versions.dropOldest(most)
  if (until !== null) tx.meta.set('versions_since', Math.max(until, tx.meta.get('versions_since') ?? 0))
}

/** The spans of time of which nothing is recorded, the earliest first, when an older copy of the records is put back now. The
 * last one begins when the copy last recorded how long albumd has run, and ends with an audit. */
export function gapsFromNow({ meta }: Pick<Records, 'meta'>): Gap[] {
  const gaps = meta.get('records_gaps') ?? []
  const from = meta.get('running_at')
  return from === null || gaps.at(-1)?.to === null ? gaps : [...gaps, { from, to: null }]
}

/** Notes that the records are an older copy, so that they lack what happened in a span of time. */
export function gapBegan({ meta }: Pick<Tx, 'meta'>): void {
  meta.set('records_gaps', gapsFromNow({ meta }))
}

export function gapEnded({ meta }: Pick<Tx, 'meta'>, now: number): void {
  const gaps = meta.get('records_gaps')
  if (gaps?.at(-1)?.to === null)
    meta.set(
      'records_gaps',
      gaps.map(({ from, to }) => ({ from, to: to ?? now })),
    )
}

/** The earliest time of the wall clock as of which these mirrors can be restored completely: since then the host still holds
 * every recorded version of their pictures. Null: nothing of these mirrors is recorded yet. */
export function restorableSince(
  { versions, meta, images }: Pick<Records, 'versions' | 'meta' | 'images'>,
  mirrors: readonly number[],
): number | null {
  const first = mirrors.length === 0 ? null : firstRecorded({ versions, images })
  const complete = Math.max(versions.givenUp(mirrors) ?? 0, meta.get('versions_since') ?? 0)
  return first === null ? null : wallTime({ meta }, Math.max(first, complete))
}

/** When the first image was recorded, as far as it is known. Null: none was. */
export function firstRecorded({ versions, images }: Pick<Records, 'versions' | 'images'>): number | null {
  const first = Math.min(
    versions.oldest() ?? Number.POSITIVE_INFINITY,
    images.oldest() ?? Number.POSITIVE_INFINITY,
  )
  return Number.isFinite(first) ? first : null
}

export type PastVersion = Pick<VersionRow, 'mtime'> & { hash: Buffer; size: number }

/** What was recorded at a path at this time. Null: no picture with an image. `file`: the path's present record. */
export function versionAt(
  { versions, images, meta }: Pick<Records, 'versions' | 'images' | 'meta'>,
  location: Location,
  file: FileRow | undefined,
  moment: Millis,
): PastVersion | null {
  const past = versions.at({ ...location, moment })
  if (past) {
    const { since, hash, size, mtime } = past
    return hash !== null && size !== null && since <= moment ? { hash, size, mtime } : null
  }
  if (!file || !isAtPath(file.state)) return null
  return heldVersions({ images, meta }, file).find(({ began }) => began <= moment) ?? null
}

/** The versions of a file that the host holds under a recorded image, the newest first. `began`: when each version began. */
export function heldVersions(
  { images, meta }: Pick<Records, 'images' | 'meta'>,
  file: FileRow,
): (PastVersion & { began: number })[] {
  const held: (PastVersion & { began: number })[] = []
  const image = file.image === null ? undefined : images.byId(file.image)
  const isOfFile = image !== undefined && images.isOf(image, file.hash)
  if (file.hash && !isOfFile && images.byHash(file.hash).length > 0) {
    // The picture has moved here and waits for its upload. The host has its bytes under the old path.
    const { hash, size, mtime } = file
    held.push({
      hash,
      size,
      mtime,
      began: versionStart({ images, meta }, file, hash, Number.POSITIVE_INFINITY),
    })
  }
  if (image) {
    const { hash, size, recorded_at: began } = image
    held.push({ hash, size, mtime: isOfFile ? file.mtime : image.mtime, began })
  }
  return held
}
