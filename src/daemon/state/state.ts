import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { recordRunning } from '../../records/escrow.ts'
import { albumPathOf } from '../../sync/album-name.ts'
import { systemClock } from '../../sync/clock.ts'
import { noteBoot, noteLost } from '../../sync/state-loss.ts'
import type { LockedError } from '../../synced/lock.ts'
import { explained, StateError } from '../../synced/state-error.ts'
import type { Synced } from '../../synced/synced.ts'
import { openRecords, type Records } from './records.ts'
import { bootId, endRequests, lastRequestBefore, startRequests } from './requests-before.ts'
import { RootLocks } from './root-locks.ts'
import { type StateFolder, takeStateFolder } from './state-folder.ts'

/** The files of a state folder. */
export const stateFiles = (stateDir: string) => ({
  database: join(stateDir, 'albumd.db'),
  witness: join(stateDir, 'albumd.witness'),
  lock: join(stateDir, 'lock.db'),
  trouble: join(stateDir, 'albumd.trouble'),
  control: join(stateDir, 'control.sock'),
  page: join(stateDir, 'page.sock'),
  pageKey: join(stateDir, 'page.key'),
})

/** A state that this process alone has, with the mirrors' folders. */
export interface State {
  synced: Synced
  /** See requests-before.ts. */
  lastRequest: number | null
  /** Milliseconds that albumd ran and looked, over all its starts. */
  running: () => number
  /** Locks the roots that were not there before. Answers the folders that another albumd has: they must wait. */
  lockMissing(): Promise<Map<string, LockedError>>
  /** Throws StateError where somebody has put another state in its place. */
  check(): void
  /**
   * Something that works with this state threw `error`: answers it as a StateError where the state itself failed. Then
   * what is in memory can't be trusted, and there is nothing to do but to close it.
   */
  failed(error: unknown): unknown
  /** Throws StateError where the last of it could not be recorded. It is closed all the same. */
  close(): void
}

/** A state folder and the mirrors' folders, for this process alone. */
export interface Claim {
  roots: RootLocks
  folder: Pick<StateFolder, 'renew' | 'isInPlace'>
  release(): void
}

/**
 * Opens the state for work, or makes it; `say` tells a person what was wrong with it, in a line. Throws LockedError and
 * StateError, also with the codes STATE_OTHER_HOST, STATE_OTHER_ALBUM and STATE_OTHER_FOLDER for a state that does not
 * belong to this config.
 */
export async function openState(config: Config, say: (line: string) => void): Promise<State> {
  const claim = await claimState(config)
  try {
    const state = openClaimed(config, claim, say)
    return {
      ...state,
      close() {
        try {
          state.close()
        } finally {
          claim.release()
        }
      },
    }
  } catch (error) {
    claim.release()
    throw error
  }
}

/** Takes what no other albumd may have meanwhile. Throws LockedError and StateError. */
export async function claimState(config: Config): Promise<Claim> {
  const folder = takeStateFolder(stateFiles(config.state_dir).lock)
  const roots = new RootLocks(config.mirrors.map(({ folder }) => folder))
  const release = () => {
    roots.release()
    folder.release()
  }
  try {
    for (const taken of (await roots.lockMissing()).values()) throw taken
    return { roots, folder, release }
  } catch (error) {
    release()
    throw error
  }
}

/** The state of a folder that is claimed; its end leaves the claim. Throws what `openState` throws beside LockedError. */
export function openClaimed(config: Config, claim: Claim, say: (line: string) => void): State {
  const files = stateFiles(config.state_dir)
  const records = openRecords(files, say)
  const { synced } = records
  try {
    const before = lastRequestBefore(synced, systemClock.monotonic())
    // Records that know less may not know of the last request.
    const lastRequest = records.knowLess ? systemClock.monotonic() : before
    bind(synced, config)
    if (records.lostWork) synced.commitNow(tx => noteLost(tx, systemClock.monotonic()))
    return opened(records, lastRequest, claim, files.database)
  } catch (error) {
    // A StateError is of a state that is another's: nothing is wrong with it.
    const why = explained(error, files.database)
    records.close(error instanceof StateError ? 'clean' : endAfter(why))
    throw why
  }
}

function endAfter(why: unknown): 'cut_off' | 'damaged' {
  return why instanceof StateError && why.code === 'STATE_DAMAGED' ? 'damaged' : 'cut_off'
}

function opened(records: Records, lastRequest: number | null, { roots, folder }: Claim, file: string): State {
  const { synced } = records
  const began = systemClock.monotonic()
  synced.commitNow(tx => {
    startRequests(tx)
    noteBoot(tx, bootId(), began)
    tx.meta.set('pid', String(process.pid))
    // Of a daemon that was cut off.
    tx.meta.clear('config')
  })
  const runBefore = Number(synced.meta.get('running_ms') ?? 0)
  const running = () => Math.round(runBefore + systemClock.monotonic() - began)
  let end: 'clean' | 'cut_off' | 'damaged' = 'clean'
  const failed = (error: unknown) => {
    const why = explained(error, file)
    if (why instanceof StateError) end = endAfter(why)
    return why
  }
  return {
    synced,
    lastRequest,
    running,
    lockMissing: () => roots.lockMissing(),
    check() {
      // The lock too: without it another albumd would begin beside this one.
      if (!records.isInPlace() || !folder.isInPlace())
        throw new StateError(
          'STATE_REPLACED',
          `${file}: the state was replaced or removed while albumd worked with it`,
        )
    },
    failed,
    close() {
      try {
        if (end === 'clean') recordEnd(synced, running())
      } catch (error) {
        throw failed(error)
      } finally {
        records.close(end)
      }
    },
  }
}

function recordEnd(synced: Synced, running: number): void {
  synced.commitNow(tx => {
    tx.mirrors.endPhases()
    tx.mirrors.endScans()
    recordRunning(tx, running)
    tx.meta.clear('pid')
    tx.meta.clear('config')
    endRequests(tx, systemClock.monotonic())
  })
}

/** A state belongs to one host, and a mirror's records to one folder and album: else it would send or delete wrongly. */
function bind(synced: Synced, config: Config): void {
  refuseOther(synced, config)
  const { base_url } = config.host
  if (synced.meta.get('base_url') !== base_url) synced.commitNow(({ meta }) => meta.set('base_url', base_url))
}

/** A mistyped address, where nothing ever answered, holds nobody to it. */
function knowsTheHost({ albums, images, journal }: Synced): boolean {
  return images.fullestAlbums(1).length > 0 || albums.all().length > 0 || journal.open().length > 0
}

/** Throws StateError where the state does not belong to this config. */
export function refuseOther(synced: Synced, config: Config): void {
  const { base_url } = config.host
  const bound = synced.meta.get('base_url')
  if (bound !== null && bound !== base_url && knowsTheHost(synced))
    throw new StateError(
      'STATE_OTHER_HOST',
      `${config.state_dir}: the state belongs to ${bound}, the config says ${base_url}; put host.base_url back, or name another state_dir`,
    )
  for (const { folder, album } of config.mirrors) {
    const known = synced.mirrors.of(folder)
    if (known && known.album !== album)
      throw new StateError(
        'STATE_OTHER_ALBUM',
        `${folder} is mirrored in the album "${known.album}", the config says "${album}"; put mirrors[].album back, or name another state_dir`,
      )
    const before = known ? undefined : synced.mirrors.all().find(mirror => mirror.album === album)
    if (before)
      throw new StateError(
        'STATE_OTHER_FOLDER',
        `the album "${album}" mirrors ${before.folder}, the config says ${folder}; put mirrors[].folder back, or name another album or state_dir`,
      )
  }
  refuseRegrouped(synced, config)
}

/**
 * A mirror that is out of the config keeps its images. One whose album holds theirs, or lies in theirs, would send the
 * same pictures to the same albums again. Throws StateError.
 */
function refuseRegrouped({ mirrors, files }: Synced, { mirrors: configured, state_dir }: Config): void {
  const left = mirrors
    .all()
    .filter(({ id, folder }) => !configured.some(mirror => mirror.folder === folder) && files.anyOfMirror(id))
  for (const { album, folder } of configured) {
    const other = left.find(known => overlap(albumPathOf(known.album, ''), albumPathOf(album, '')))
    if (other)
      throw new StateError(
        'STATE_OTHER_FOLDER',
        `the album "${album}" of ${folder} overlaps "${other.album}", which mirrored ${other.folder}; put mirrors[] back as they were, or name another state_dir than ${state_dir}`,
      )
  }
}

function overlap(one: readonly string[], other: readonly string[]): boolean {
  const [outer, inner] = one.length < other.length ? [one, other] : [other, one]
  return outer.every((name, at) => inner[at] === name)
}
