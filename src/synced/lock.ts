import { existsSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import type { Identity } from '../local/disk.ts'
import { because, inWords, type Reason } from '../words/reasons.ts'
import { makePrivate } from './private-file.ts'
import { explained, StateError } from './state-error.ts'

/** A lock that lasts until `release` is called or the process ends. It ends also when the process is killed. */
export interface Lock {
  release(): void
}

export class LockedError extends Error {
  override name = 'LockedError'
  readonly code = 'LOCKED'
  readonly why: Reason
  /** The process that holds the lock. Null: not known. */
  readonly pid: number | null

  constructor(code: 'state_in_use' | 'mirrored_by_another' | 'folder_in_use', folder: string, file: string) {
    const pid = holderOf(file)
    const why = because(code, { folder, pid })
    super(inWords(why))
    this.why = why
    this.pid = pid
  }
}

/** Locks a state for this process. The lock is an exclusive transaction on an empty database. The transaction writes
 * nothing, so the lock can be taken even when the disk is full. Throws LockedError, StateError and SQLite's errors. */
export function lockState(file: string): Lock {
  try {
    return lockFile(file)
  } catch (error) {
    if (isBusy(error)) throw new LockedError('state_in_use', dirname(file), file)
    throw noLock(error, file)
  }
}

/** Locks a file. When the lock is taken, tries again for 100 ms, because `isLocked` of another command may hold it for a
 * moment. */
function lockFile(file: string): Lock {
  makePrivate(file)
  const db = new Database(file, { timeout: 100 })
  try {
    // By default, SQLite begins a journal file, which is not possible on a full disk.
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    throw error
  }
  return { release: () => void db.close() }
}

/** Whether a process has locked the state at this moment. Throws StateError where this user can't tell. */
export function stateIsLocked(file: string): boolean {
  try {
    return isLocked(file)
  } catch (error) {
    throw explained(noLock(error, file), file)
  }
}

/** Whether a process has locked a file at this moment. Throws SQLite's errors. */
function isLocked(file: string): boolean {
  if (!existsSync(file)) return false
  let db: Database.Database | null = null
  try {
    db = new Database(file, { readonly: true, timeout: 0 })
    db.prepare('SELECT count(*) FROM sqlite_master').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    db?.close()
  }
}

/** With a damaged file nobody can tell whether another process has locked the state, so a person must remove it. */
function noLock(error: unknown, file: string): unknown {
  const code = (error as { code?: string }).code ?? ''
  return code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')
    ? new StateError('STATE_UNREADABLE', `Lock ${file} is damaged. Remove it while no albumd runs`)
    : error
}

/** The process that has locked a file, as Linux tells in lines such as
 * `3: POSIX  ADVISORY  WRITE 12238 fe:00:2246922 1073741824 1073742335`. Null: not known, as in another container. */
function holderOf(file: string): number | null {
  try {
    const { dev, ino } = statSync(file)
    const hex = (n: number) => n.toString(16).padStart(2, '0')
    const at = ` ${hex((dev >> 8) & 0xfff)}:${hex((dev & 0xff) | ((dev >> 12) & 0xfff00))}:${ino} `
    const line = readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .find(each => each.includes(' WRITE ') && each.includes(at))
    const pid = Number(line?.match(/ WRITE (\d+)/)?.[1])
    return pid > 0 ? pid : null
  } catch {
    return null
  }
}

function isBusy(error: unknown): boolean {
  return (error as { code?: string }).code?.startsWith('SQLITE_BUSY') ?? false
}

/** Locks a mirror's folder, because two albumd of one user must never mirror it with two states at once. Nothing may be written
 * into the mirror, so the lock's file lies in a private folder, named by device and inode. Where this user has no private
 * folder, only the state is locked. `taken`: the code when another albumd has the lock. Throws LockedError. */
export function lockFolder(
  folder: string,
  root: Identity,
  taken: 'mirrored_by_another' | 'folder_in_use' = 'mirrored_by_another',
): Lock {
  const file = folderLock(root)
  if (file === null) return { release() {} }
  try {
    return lockFile(file)
  } catch (error) {
    if (isBusy(error)) throw new LockedError(taken, folder, file)
    // The lock's file can't be made, for example because the disk is full. albumd goes on with the lock of the state alone.
    return { release() {} }
  }
}

/** Why another albumd keeps this mirror's folder locked, or null. The lock is asked before Linux's table of all locks, which
 * stops every process that locks a file and takes up to 20 ms to read. */
export function whoMirrors(folder: string, root: Identity): Reason | null {
  const file = folderLock(root)
  try {
    const isTaken = file !== null && isLocked(file)
    return isTaken ? because('mirrored_by_another', { folder, pid: holderOf(file) }) : null
  } catch {
    // albumd goes on without a lock whose file can't be used, as in `lockFolder`.
    return null
  }
}

function folderLock({ dev, ino }: Identity): string | null {
  const own = ownFolder()
  return own && join(own, `mirror-${dev}-${ino}.lock`)
}

/** A private folder of this user, in which no other user can make files; null when there is none. */
function ownFolder(): string | null {
  const uid = process.getuid?.()
  if (uid === undefined) return null
  return [`/run/user/${uid}/albumd`, `/tmp/albumd-${uid}`].find(folder => isOwn(folder, uid)) ?? null
}

/** Makes the folder when it is missing. False when another user owns it or can write into it, or when it is a link. */
function isOwn(folder: string, uid: number): boolean {
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
    const { mode, uid: owner } = lstatSync(folder)
    return owner === uid && (mode & 0o170077) === FOLDER
  } catch {
    return false
  }
}

/** The mode of a folder without permissions for others. */
const FOLDER = 0o040000
