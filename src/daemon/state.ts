import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/schema.ts'
import { realDisk } from '../local/real-disk.ts'
import { systemClock } from '../sync/clock.ts'
import { openDatabase } from '../synced/database.ts'
import { type Lock, lockFolder, lockState } from '../synced/lock.ts'
import { openSynced, type Synced } from '../synced/synced.ts'
import { endRequests, lastRequestBefore, startRequests } from './requests-before.ts'

/** The files of a state folder. */
export const stateFiles = (stateDir: string) => ({
  database: join(stateDir, 'albumd.db'),
  lock: join(stateDir, 'lock.db'),
})

/** A state that does not belong to this config. `code`: STATE_OTHER_HOST, STATE_OTHER_ALBUM. */
export class StateMismatch extends Error {
  override name = 'StateMismatch'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** A state that this process alone has, with the mirrors' folders. */
export interface State {
  synced: Synced
  /** See requests-before.ts. */
  lastRequest: number | null
  /** Milliseconds that albumd ran and looked, over all its starts. */
  running: () => number
  close(): void
}

/** Opens the state for work, or makes it. Throws LockedError, StateError, StateMismatch. */
export async function openState(config: Config): Promise<State> {
  mkdirSync(config.state_dir, { recursive: true, mode: 0o700 })
  const files = stateFiles(config.state_dir)
  const locks: Lock[] = [lockState(files.lock)]
  const release = () => {
    for (const lock of locks.reverse()) lock.release()
  }
  try {
    for (const { folder } of config.mirrors) locks.push(await lockRoot(folder))
    const synced = openSynced(openDatabase(files.database))
    try {
      const lastRequest = lastRequestBefore(synced, systemClock.monotonic())
      bind(synced, config)
      return opened(synced, lastRequest, release)
    } catch (error) {
      synced.close()
      throw error
    }
  } catch (error) {
    release()
    throw error
  }
}

function opened(synced: Synced, lastRequest: number | null, release: () => void): State {
  startRequests(synced)
  const runBefore = Number(synced.meta.get('running_ms') ?? 0)
  const began = systemClock.monotonic()
  synced.meta.set('pid', String(process.pid))
  return {
    synced,
    lastRequest,
    running: () => Math.round(runBefore + systemClock.monotonic() - began),
    close() {
      synced.mirrors.endPhases()
      synced.meta.clear('pid')
      endRequests(synced, systemClock.monotonic())
      synced.close()
      release()
    },
  }
}

async function lockRoot(folder: string): Promise<Lock> {
  try {
    return await lockFolder(folder, realDisk.lstat(folder))
  } catch (error) {
    // A root that is not there needs no lock: nothing of it is sent or deleted.
    if ((error as NodeJS.ErrnoException).syscall) return { release() {} }
    throw error
  }
}

/** A state belongs to one host, and a mirror's records to one album: anything else would send or delete wrongly. */
function bind(synced: Synced, config: Config): void {
  const { base_url } = config.host
  const bound = synced.meta.get('base_url')
  if (bound === null) synced.meta.set('base_url', base_url)
  else if (bound !== base_url)
    throw new StateMismatch(
      'STATE_OTHER_HOST',
      `${config.state_dir}: the state belongs to ${bound}, the config says ${base_url}; put host.base_url back, or name another state_dir`,
    )
  for (const { folder, album } of config.mirrors) {
    const known = synced.mirrors.of(folder)
    if (known && known.album !== album)
      throw new StateMismatch(
        'STATE_OTHER_ALBUM',
        `${folder} is mirrored in the album "${known.album}", the config says "${album}"; put mirrors[].album back, or name another state_dir`,
      )
  }
}
