import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import { openScanPool } from '../../local/scan-pool.ts'
import { systemClock } from '../../protocol/clock.ts'
import { movedTo } from '../../records/moves.ts'
import { locationOf } from '../../records/versions.ts'
import { albumPathOf, recordedAlbums } from '../../sync/album.ts'
import { runningTime } from '../../sync/clock.ts'
import { endsDeletion, isGraceOver, isTooMuch, WINDOW_MS, whyImageStays } from '../../sync/deletions/index.ts'
import { Looks } from '../../sync/looks.ts'
import {
  cameFrom,
  deletionWaits,
  type OutlookContext,
  waitsForPerson,
  whyPending,
} from '../../sync/outlook/index.ts'
import type { Tell } from '../../sync/pass-events.ts'
import type { Interruption, MirrorPolicy } from '../../sync/pass-request.ts'
import { type ScannedMirror, scanMirrors, VanishedRules } from '../../sync/scan/index.ts'
import { fullPath, isAtOrBelow, nameOf, pathOf } from '../../sync/tree-path.ts'
import { UnderWay } from '../../sync/under-way.ts'
import { settleJournal } from '../../sync/uploads/index.ts'
import { openDatabase, openDatabaseToRead } from '../../synced/database.ts'
import { stateIsLocked } from '../../synced/lock.ts'
import { explained } from '../../synced/state-error.ts'
import { openSynced, type Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { Location } from '../../synced/tables/history.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, codeOf, inWords, type Reason, WHY_IN_ESCROW } from '../../words/reasons.ts'
import { stateFiles } from '../state/claim.ts'
import { pauseAt, pauseInWords } from '../state/pause.ts'
import { areOlder } from '../state/records.ts'
import { refuseOther } from '../state/state.ts'
import { claimsInRecords } from './claims.ts'
import { keptImages } from './explain.ts'
import { allowanceOf, quotaStatus, uploadsLeft, whatBacklogTakes } from './quota-status.ts'

/**
 * One thing that the next pass would do, and why. Paths are below the mirror's folder.
 * replace: the old image is deleted once the new image is there.
 * compare: the picture is read and hashed, and uploaded only if its bytes are new.
 * hold: the image is to be deleted, and waits for a person.
 * wait: the image is to be deleted once its grace has ended and, if its picture moved, the picture is sent.
 * cdn_url: the delivery address that ends with the image. Null: not known.
 */
export type Operation =
  | {
      operation: 'upload' | 'replace' | 'compare'
      mirror: string
      path: string
      size: number
      reason: string
    }
  | {
      operation: 'delete' | 'hold' | 'wait'
      mirror: string
      path: string
      reason: string
      cdn_url: string | null
    }
  | { operation: 'use_album'; mirror: string; album: string; reason: string }
  | { operation: 'none'; mirror: string; reason: string }

/**
 * What `sync` would do now, in the order of a pass. Throws what `sync` would throw for this state and config. Where a daemon
 * runs, `sync` would have it make the pass, with its grace. The preview scans the disk, and records the scan in a copy of the state
 * that is thrown away. It does not ask the host. `note` gets what operations can't show.
 */
export async function* previewPass(
  config: Config,
  pruneIgnored: boolean,
  { stop }: Interruption,
  note: (line: string) => void,
): AsyncGenerator<Operation> {
  const isRunning = stateIsLocked(stateFiles(config.state_dir).lock)
  const folder = mkdtempSync(join(tmpdir(), 'albumd-preview-'))
  try {
    const synced = openSynced(openDatabase(await copyOfState(config.state_dir, join(folder, 'copy.db'))))
    try {
      refuseOther(synced, config)
      const paused = pauseAt(synced, Date.now())
      if (paused) note(pauseInWords(paused))
      const time = { now: Date.now(), running: isRunning }
      const running = runningTime(synced, time)
      const knowsLess =
        synced.audit.albums().length === 0
          ? 'nothing is recorded yet'
          : areOlder(stateFiles(config.state_dir), synced) && 'the state is an older copy or made anew'
      const guarded = new Map<string, Reason>()
      const tell: Tell = told => {
        if (told.event === 'mirror_guarded') guarded.set(told.mirror, told.reason)
      }
      const mirrors = config.mirrors.map(mirror => ({ ...mirror, pruneIgnored }))
      const graceMs = isRunning ? config.deletions.grace : 0
      await settleJournal({
        synced,
        clock: systemClock,
        credentialLifetimeMs: config.host.credential_lifetime,
      })
      const scanned = await scan(synced, mirrors, { running, graceMs }, tell, stop)
      const uploads = new Map(
        scanned.map(({ row }): [number, Uploads] => [row.id, { any: false, added: 0, replaced: [] }]),
      )
      yield* previewUploads(synced, scanned, config.uploads.order, uploads)
      const sends = [...uploads.values()].some(({ any }) => any)
      if (knowsLess && sends) note(`${knowsLess}: what the host holds already is linked, not uploaded`)
      const moved = synced.summaries.moved(scanned.map(({ row }) => row.id))
      const { quota, backlog } = quotaStatus(config, synced, Date.now())
      const takes = whatBacklogTakes({ quota, backlog })
      if (takes) note(inWords(takes))
      if (moved > 0) note(inWords(because('sent_again', { moved, left: uploadsLeft(quota) })))
      const gone = goneFromHost(synced)
      if (gone > 0) note(inWords(because('gone_on_host', { pictures: gone })))
      const failed = synced.files.inState('failed').flatMap(file => {
        const { mirror, path } = locationOf(synced, file)
        return scanned.flatMap(({ row }) => (row.id === mirror ? fullPath(row.folder, path) : []))
      })
      const [path] = failed
      if (path !== undefined) note(inWords(because('failed_before', { pictures: failed.length, path })))
      if (guarded.size === 0) yield* previewDeletions(config, synced, scanned, uploads, time)
      for (const [mirror, reason] of guarded) yield { operation: 'none', mirror, reason: inWords(reason) }
    } finally {
      synced.close()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The uploads of one mirror. A pass decides about deletions after its uploads, so the preview counts them first. */
interface Uploads {
  any: boolean
  /** Pictures that have no image yet. */
  added: number
  /** The pictures that have an image, and whose new version is uploaded. */
  replaced: { path: string; image: number }[]
}

async function copyOfState(stateDir: string, copy: string): Promise<string> {
  const { database } = stateFiles(stateDir)
  if (!existsSync(database)) return copy
  const db = openDatabaseToRead(database)
  try {
    await db.backup(copy)
  } catch (error) {
    throw explained(error, database)
  } finally {
    db.close()
  }
  return copy
}

async function scan(
  synced: Synced,
  mirrors: readonly MirrorPolicy[],
  { running, graceMs }: { running: number; graceMs: number },
  tell: Tell,
  stop: AbortSignal,
): Promise<ScannedMirror[]> {
  const context = {
    synced,
    disk: realDisk,
    clock: systemClock,
    tell,
    vanishedRules: new VanishedRules(systemClock),
    graceMs,
    running: () => running,
  }
  const looks = new Looks({ lookAt: (root, ended) => openScanPool(root, ended).look })
  const underWay = new UnderWay(() => {})
  const pass = { mirrors, scopeOf: () => 'everything' as const, looks, underWay, interruption: { stop } }
  return scanMirrors(context, pass).finally(() => looks.end())
}

function* previewUploads(
  synced: Synced,
  scanned: readonly ScannedMirror[],
  order: 'newest' | 'oldest',
  uploads: ReadonlyMap<number, Uploads>,
): Generator<Operation> {
  const mirrors = new Map(scanned.map(mirror => [mirror.row.id, mirror]))
  const albums = new Set<string>()
  const lost = lostPictures(synced, scanned)
  for (const file of synced.files.pending(order, [...mirrors.keys()])) {
    const folder = synced.folders.byId(file.folder)!
    const { row, policy, unknown } = mirrors.get(folder.mirror)!
    if (unknown.some(path => isAtOrBelow(folder.path, path))) continue
    const mirror = policy.folder
    for (const album of newAlbums(synced, albumPathOf(policy.album, folder.path)))
      if (!albums.has(album)) {
        albums.add(album)
        yield { operation: 'use_album', mirror, album, reason: inWords(because('first_needs_album')) }
      }
    const path = pathOf(folder.path, file.name)
    const why = whyUploaded(synced, file, { mirror: row.id, path }, lost)
    const operation = uploadOf(synced, file, policy, path)
    const ofMirror = uploads.get(row.id)!
    ofMirror.any = true
    if (file.image === null) ofMirror.added++
    if (operation === 'replace') ofMirror.replaced.push({ path, image: file.image! })
    yield { operation, mirror, path, size: file.size, reason: inWords(why) }
  }
}

/** Why a file is uploaded or compared. `lost`: of `lostPictures`. */
function whyUploaded(synced: Synced, file: FileRow, at: Location, lost: LostPictures): Reason {
  const pending = whyPending(file, synced.history.of(at))
  const isNew = file.image === null && codeOf(pending) === 'new'
  const from = isNew && file.hash === null ? takeLost(lost, file) : undefined
  if (from !== undefined) return because('perhaps_moved_from', { path: from })
  const move = isNew && file.hash !== null ? cameFrom(synced, file) : null
  if (move) return move
  const failure = synced.failures.of(file.folder, file.name)
  return failure ? because('tried_again_after', { code: failure.code, why: failure.message }) : pending
}

type LostPictures = Map<string, { path: string }[]>

/** The paths of the pictures that are gone, by size and modification time, by which the hold knows a moved picture too. */
function lostPictures(synced: Synced, scanned: readonly ScannedMirror[]): LostPictures {
  const lost = scanned
    .flatMap(({ row }) => synced.escrow.ofMirror(row.id))
    .filter(({ reason }) => reason === 'deleted')
    .flatMap(({ image, path }) =>
      synced.files.onImage(image).map(({ size, mtime, state }) => ({ size, mtime, state, path })),
    )
    .filter(({ state }) => state === 'gone')
  return Map.groupBy(lost, ({ size, mtime }) => `${size} ${mtime}`)
}

/** Takes the path of a picture that is gone and is like this file out of `lost`, at best one of the same name. */
function takeLost(lost: LostPictures, { name, size, mtime }: FileRow): string | undefined {
  const alike = lost.get(`${size} ${mtime}`) ?? []
  const named = alike.findIndex(({ path }) => nameOf(path) === name)
  return alike.splice(Math.max(0, named), 1)[0]?.path
}

/**
 * How many pictures have an image that an audit found gone from the host, and are not sent again. A picture that is only
 * compared mostly turns out to be unchanged.
 */
function goneFromHost({ audit, images, files }: Synced): number {
  return audit
    .gone()
    .flatMap(id => images.byRemoteId(id) ?? [])
    .flatMap(({ id }) => files.onImage(id))
    .filter(file => file.state === 'synced' || file.state === 'linked' || files.isToCompare(file)).length
}

function uploadOf(synced: Synced, { image, size, hash }: FileRow, policy: MirrorPolicy, path: string) {
  // A picture that is there again may have the bytes of an image that stayed.
  const old = image === null ? keptImages(synced, { mirror: policy, path }) : [synced.images.byId(image)!]
  // A picture that was not read yet, and is as large as its image, mostly has the bytes of its image.
  if (hash === null && old.some(its => its.size === size)) return 'compare'
  return policy.deletions === 'keep' || old.every(its => its.kept === 1) ? 'upload' : 'replace'
}

/** The albums of a path that have no record yet. */
function newAlbums(synced: Synced, path: string[]): string[] {
  return recordedAlbums(synced, path).flatMap((known, at) => (known ? [] : path.slice(0, at + 1).join('/')))
}

/** What would become of the images in escrow. As in a pass, deletions are decided after the uploads. */
function* previewDeletions(
  config: Config,
  synced: Synced,
  scanned: readonly ScannedMirror[],
  uploads: ReadonlyMap<number, Uploads>,
  time: Pick<OutlookContext, 'now' | 'running'>,
): Generator<Operation> {
  const running = runningTime(synced, time)
  const open = new Map<number, number>()
  /** Each picture without an image may be one missing picture of its size, in another place. */
  const mayHaveMoved = ({ size }: ImageRow) => {
    const left = open.get(size) ?? synced.files.openOfSize(size).length
    open.set(size, left - 1)
    return left > 0
  }
  const context = {
    synced,
    claims: claimsInRecords(config, synced, false),
    mirrors: config.mirrors,
    ...time,
    allowance: allowanceOf(config),
    paused: null,
    rootInDoubt: false,
    areMany: () => false,
    mayHaveMoved,
  }
  for (const { row, policy } of scanned) {
    if (policy.deletions === 'keep') continue
    const planned = (
      operation: 'delete' | 'hold' | 'wait',
      { path, image }: { path: string; image: number },
      why: Reason,
    ): Operation => {
      const cdn_url = synced.images.byId(image)?.cdn_url ?? null
      return { operation, mirror: policy.folder, path, reason: inWords(why), cdn_url }
    }
    const { added, replaced } = uploads.get(row.id)!
    const { pending, in_use, deleted } = synced.escrow.weight({ mirror: row.id, since: running - WINDOW_MS })
    const after = { pending: pending + replaced.length, in_use: in_use + added, deleted }
    const areHeld = isTooMuch(after, config.deletions)
    for (const entry of synced.escrow.ofMirror(row.id)) {
      const [operation, why] = operationOn(context, entry, running, areHeld) ?? []
      if (operation && why) yield planned(operation, entry, why)
    }
    if (areHeld) for (const old of replaced) yield planned('hold', old, WHY_IN_ESCROW.superseded)
  }
}

/**
 * What would happen to an image in escrow, and why. Null: the image stays, because something needs it. `areHeld`: whether
 * the mirror deletes too much at once. A picture that may have moved is not foretold as held, because a pass reads its new
 * file and sends it before the deletions are counted.
 */
function operationOn(
  context: Parameters<typeof deletionWaits>[0] & { mayHaveMoved(image: ImageRow): boolean },
  entry: EscrowRow,
  running: number,
  areHeld: boolean,
): ['delete' | 'hold' | 'wait', Reason] | null {
  const { escrow } = context.synced
  const image = context.synced.images.byId(entry.image)!
  const path = movedTo(context.synced, image)?.path ?? null
  const why = path === null ? WHY_IN_ESCROW[entry.reason] : because('picture_moved', { path })
  if (waitsForPerson(entry)) return ['hold', why]
  const stays = whyImageStays(context, image, null)
  if (stays && endsDeletion(stays)) return null
  const move = entry.reason === 'deleted' && stays && context.mayHaveMoved(image) ? stays : null
  if (areHeld && move === null && entry.state === 'grace' && escrow.isCounted(image.id)) return ['hold', why]
  if (!isGraceOver(entry, running)) return ['wait', deletionWaits(context, entry)[0]!.why]
  // Many pictures have the same size by chance, so the size alone is no reason.
  return ['delete', move && !escrow.isCounted(image.id) ? move : why]
}
