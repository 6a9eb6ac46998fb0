import { hash } from 'node:crypto'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { createConnection } from 'node:net'
import { dirname, join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import { makeFolder } from '../../local/make-folder.ts'
import { type SteadyClock, systemClock } from '../../protocol/clock.ts'
import { type Lock, LockedError, lockFolder, lockState } from '../../synced/lock.ts'
import { explained, othersFile, StateError } from '../../synced/state-error.ts'
import { because, codeOf, inWords, type Reason } from '../../words/reasons.ts'
import { orNull } from '../or-null.ts'

export const stateFiles = (stateDir: string) => ({
  database: join(stateDir, 'albumd.db'),
  witness: join(stateDir, 'albumd.witness'),
  lock: join(stateDir, 'lock.db'),
  control: join(stateDir, 'control.sock'),
  page: join(stateDir, 'page.sock'),
  pageKey: join(stateDir, 'page.key'),
  thumbnails: join(stateDir, 'thumbnails'),
})

export type Claim = ReturnType<typeof claimState>

/** Locks the state folder and the mirrors' folders. Makes a missing state folder. Throws LockedError and StateError. */
export function claimState(config: Config) {
  const lockFile = stateFiles(config.state_dir).lock
  let lock = take(lockFile)
  let taken = idOf(lockFile)
  const roots = new RootLocks(config.mirrors.map(({ folder }) => folder))
  /** Locks the state folder that is there now. Returns whether it was replaced. Throws StateError. */
  const renew = () => {
    // No folder is made where none exists, because somebody may be about to move the state back.
    if (idOf(lockFile) === taken || !existsSync(config.state_dir)) return false
    const before = lock
    try {
      lock = take(lockFile)
    } catch (error) {
      // While another albumd has the lock, this daemon waits: it has worked already, so the error may pass.
      throw error instanceof LockedError ? new StateError('STATE_BUSY', error.message) : error
    }
    taken = idOf(lockFile)
    before.release()
    return true
  }
  const release = () => {
    roots.release()
    lock.release()
  }
  try {
    for (const taken of roots.lockMissing().values()) throw taken
    // `replaced`: whether this process found its records replaced, and has not opened the new ones yet.
    return { roots, replaced: false, renew, release }
  } catch (error) {
    release()
    throw error
  }
}

export interface Waiting {
  stop: AbortSignal
  say(line: string): void
  clock?: SteadyClock
}

/** For how many milliseconds a process waits for another one. Most commands are shorter. */
const PATIENCE_MS = 10_000
/** After how many milliseconds a person is told of the wait. Most waits are shorter. */
const TOLD_AFTER_MS = 1000
const PAUSE_MS = 100

/** Does `work` again while another albumd has the state, so that commands queue. Throws LockedError where `daemonHasIt`, and
 * where an albumd with another state has a root. Throws WaitEnded on `stop`, and where one process keeps the state too long. */
export async function whenFree<T>(
  work: () => T | Promise<T>,
  { stop, say, clock = systemClock }: Waiting,
  daemonHasIt = async () => false,
): Promise<T> {
  const began = clock.monotonic()
  let holder: number | null | undefined
  let since = began
  let isTold = false
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isStateTaken(error) || (await daemonHasIt())) throw error
      const { pid } = error
      const now = clock.monotonic()
      if (pid !== holder) since = now
      holder = pid
      if (now - since >= PATIENCE_MS)
        throw new WaitEnded('LOCKED', because('wait_too_long', { pid, ms: PATIENCE_MS }))
      if (!isTold && now - began >= TOLD_AFTER_MS) {
        say(inWords(because('waits_for_albumd', { pid, ms: PATIENCE_MS })))
        isTold = true
      }
      await clock.sleep(PAUSE_MS, stop)
      if (stop.aborted) throw new WaitEnded('LEFT', because('wait_ended', { pid }))
    }
  }
}

class WaitEnded extends Error {
  readonly code: 'LEFT' | 'LOCKED'

  constructor(code: 'LEFT' | 'LOCKED', why: Reason) {
    super(inWords(why))
    this.code = code
  }
}

function isStateTaken(error: unknown): error is LockedError {
  return error instanceof LockedError && codeOf(error.why) === 'state_in_use'
}

/** Like `claimState`, but waits for other commands. Does not wait for a daemon. */
export function claimWhenFree(config: Config, waiting: Waiting): Promise<Claim> {
  const { control } = stateFiles(config.state_dir)
  return whenFree(
    () => claimState(config),
    waiting,
    () => isListening(control),
  )
}

/** Whether a process listens at this socket. A killed process leaves a socket at which nobody listens. */
function isListening(file: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = createConnection(file)
    const end = (listens: boolean) => {
      socket.destroy()
      resolve(listens)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
}

/** The locks on the mirrors' roots. A root that does not exist has no lock. Nothing of it is sent or deleted. */
export class RootLocks {
  #folders: readonly string[]
  readonly #locks = new Map<string, Lock>()

  constructor(folders: readonly string[]) {
    this.#folders = folders
  }

  /** Locks the roots that exist and are not locked yet. Returns the roots that another albumd has locked. */
  lockMissing(): Map<string, LockedError> {
    const taken = new Map<string, LockedError>()
    for (const folder of this.#folders) {
      const root = this.#locks.has(folder) ? null : orNull(() => realDisk.lstat(folder))
      if (root === null) continue
      try {
        this.#locks.set(folder, lockFolder(folder, root))
      } catch (error) {
        if (!(error instanceof LockedError)) throw error
        taken.set(folder, error)
      }
    }
    return taken
  }

  /** Makes these folders the roots from now on. Releases the locks on all others. */
  follow(folders: readonly string[]): void {
    this.#folders = folders
    for (const [folder, lock] of this.#locks)
      if (!folders.includes(folder)) {
        lock.release()
        this.#locks.delete(folder)
      }
  }

  release(): void {
    for (const lock of this.#locks.values()) lock.release()
  }
}

function take(lockFile: string): Lock {
  const stateDir = dirname(lockFile)
  try {
    makeFolder(stateDir, 0o700)
    // A lock that is there can be taken on a read-only disk. A service that waited would not see the disk become writable: the
    // namespace that systemd made for it stays as it is.
    accessSync(stateDir, constants.W_OK)
    return lockState(lockFile)
  } catch (error) {
    if (error instanceof LockedError || error instanceof StateError) throw error
    const why = explained(error, lockFile)
    if (why instanceof StateError && why.code !== 'STATE_UNREADABLE') throw why
    const { code, message } = error as NodeJS.ErrnoException
    throw new StateError(
      'STATE_UNREADABLE',
      code === 'EEXIST' || code === 'ENOTDIR'
        ? `${stateDir} is not a folder. Move it away, or name another state_dir`
        : `${stateDir}: ${othersFile(lockFile) ?? `State can't be kept here (${code ?? message}). Check state_dir and its permissions`}`,
    )
  }
}

/** A file's device and inode. No other file has them while the lock keeps this one open. Null: it can't be looked at. */
function idOf(file: string): string | null {
  const stats = orNull(() => statSync(file, { bigint: true }))
  return stats && `${stats.dev}/${stats.ino}`
}

/** A hash that is equal for configs under which commands do the same. The path to the config's file does not count. */
export function fingerprintOf(config: Config): string {
  const { log, status_page, picgo_server, host, ...obeyed } = config
  const { key_beside, ...obeyedHost } = host
  return hash('sha256', JSON.stringify({ ...obeyed, host: obeyedHost }))
}
