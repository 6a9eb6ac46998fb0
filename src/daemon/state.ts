import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/schema.ts'
import { systemClock } from '../sync/clock.ts'
import { openDatabase, StateError } from '../synced/database.ts'
import { type Lock, LockedError, lockState } from '../synced/lock.ts'
import { openSynced, type Synced } from '../synced/synced.ts'
import { endRequests, lastRequestBefore, startRequests } from './requests-before.ts'
import { RootLocks } from './root-locks.ts'

/** The files of a state folder. */
export const stateFiles = (stateDir: string) => ({
  database: join(stateDir, 'albumd.db'),
  lock: join(stateDir, 'lock.db'),
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
  close(): void
}

/**
 * Opens the state for work, or makes it. Throws LockedError and StateError, also with the codes STATE_OTHER_HOST,
 * STATE_OTHER_ALBUM and STATE_OTHER_FOLDER for a state that does not belong to this config.
 */
export async function openState(config: Config): Promise<State> {
  const files = stateFiles(config.state_dir)
  const stateLock = takeFolder(config.state_dir, files.lock)
  const roots = new RootLocks(config.mirrors.map(({ folder }) => folder))
  const release = () => {
    roots.release()
    stateLock.release()
  }
  try {
    for (const taken of (await roots.lockMissing()).values()) throw taken
    const synced = openSynced(openDatabase(files.database))
    try {
      const lastRequest = lastRequestBefore(synced, systemClock.monotonic())
      bind(synced, config)
      return opened(synced, lastRequest, roots, release)
    } catch (error) {
      synced.close()
      throw error
    }
  } catch (error) {
    release()
    throw error
  }
}

function takeFolder(stateDir: string, lockFile: string): Lock {
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 })
    return lockState(lockFile)
  } catch (error) {
    if (error instanceof LockedError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    const why = `${stateDir}: the state can't be kept here (${code ?? message}); check state_dir and its permissions`
    throw new StateError('STATE_UNREADABLE', why)
  }
}

function opened(synced: Synced, lastRequest: number | null, roots: RootLocks, release: () => void): State {
  startRequests(synced)
  const runBefore = Number(synced.meta.get('running_ms') ?? 0)
  const began = systemClock.monotonic()
  synced.meta.set('pid', String(process.pid))
  const running = () => Math.round(runBefore + systemClock.monotonic() - began)
  return {
    synced,
    lastRequest,
    running,
    lockMissing: () => roots.lockMissing(),
    close() {
      synced.mirrors.endPhases()
      synced.meta.set('running_ms', String(running()))
      synced.meta.clear('pid')
      endRequests(synced, systemClock.monotonic())
      synced.close()
      release()
    },
  }
}

/** A state belongs to one host, and a mirror's records to one folder and album: else it would send or delete wrongly. */
function bind(synced: Synced, config: Config): void {
  const { base_url } = config.host
  const bound = synced.meta.get('base_url')
  if (bound === null) synced.meta.set('base_url', base_url)
  else if (bound !== base_url)
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
}
