import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { shellWord } from '../words/text.ts'

/** The state can't be used. `code`: STATE_NEWER, STATE_DAMAGED, STATE_UNREADABLE, STATE_NOT_MIGRATED; STATE_FULL,
 * STATE_BUSY, STATE_UNWRITABLE, whose causes may pass by themselves; or a code that says that the state belongs to another
 * host or account. `needsStop`: whether albumd must be stopped to do what the message says. */
export class StateError extends Error {
  override name = 'StateError'
  readonly code: string
  readonly needsStop: boolean

  constructor(code: string, message: string, needsStop = false) {
    super(message)
    this.code = code
    this.needsStop = needsStop
  }
}

/** With fewer free bytes than this, the disk counts as full. SQLite may grow its shared memory by half of this at once. */
const FULL_BELOW = 64 * 1024

/** Turns an error of SQLite or of the file system about `file` into a StateError. Other errors are returned unchanged. */
export function explained(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof StateError) return error
  const code = kindOf(error, file)
  if (code === null) return error
  // A disk that was mounted read-only is put right without a change of the config.
  if (code === 'STATE_UNREADABLE' && isReadOnly(dirname(file)))
    return new StateError('STATE_UNWRITABLE', `${file}: ${WORDS.STATE_UNWRITABLE('its disk is read-only')}`)
  const why = (code === 'STATE_UNREADABLE' && othersFile(file)) || WORDS[code](error.message)
  return new StateError(code, `${file}: ${why}`)
}

/** What to do about another user's file or folder of the state. */
export const OF_ANOTHER = 'belongs to another user. Run this as the user that albumd runs as, or with sudo'

/** What to do about another user's file, or null. In this user's own folder, root perhaps put the file back as a copy. */
export function othersFile(file: string): string | null {
  const [uid, above] = [file, dirname(file)].map(path => statSync(path, { throwIfNoEntry: false })?.uid)
  const own = process.geteuid?.() ?? 0
  if (own === 0 || uid === undefined || uid === own) return null
  if (above !== own) return `State ${OF_ANOTHER}`
  return `State belongs to ${uid === 0 ? 'root' : `user ${uid}`}. Say sudo chown ${own} ${shellWord(file)}`
}

export function damaged(file: string, reason: string): StateError {
  return new StateError('STATE_DAMAGED', `${file}: ${WORDS.STATE_DAMAGED(reason)}`)
}

/** Whether the whole database failed, and not one statement. Then nobody knows which statements were done. */
export function isOfDatabase(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && SQLITE.some(([begins]) => code.startsWith(begins))
}

type Code = keyof typeof WORDS

const WORDS = {
  STATE_DAMAGED: (why: string) =>
    `State is damaged (${why}). The next sync or run makes a new one from what the host lists`,
  // SQLite has several texts for a full disk. If they were shown, the daemon would report the same trouble again and again.
  STATE_FULL: () => 'No room on the disk of the state. Make room there',
  STATE_BUSY: () => 'Another program keeps the state locked. Close that program',
  STATE_UNWRITABLE: (why: string) =>
    `State can't be read or written (${why}). Check its disk and its permissions`,
  STATE_UNREADABLE: (why: string) => `State can't be opened (${why}). Check the folder and its permissions`,
}

const SQLITE: readonly (readonly [string, Code])[] = [
  ['SQLITE_NOTADB', 'STATE_DAMAGED'],
  ['SQLITE_CORRUPT', 'STATE_DAMAGED'],
  ['SQLITE_FULL', 'STATE_FULL'],
  ['SQLITE_BUSY', 'STATE_BUSY'],
  ['SQLITE_PROTOCOL', 'STATE_BUSY'],
  ['SQLITE_IOERR', 'STATE_UNWRITABLE'],
  ['SQLITE_CANTOPEN', 'STATE_UNREADABLE'],
  ['SQLITE_READONLY', 'STATE_UNREADABLE'],
]

const SYSTEM: Record<string, Code> = {
  ENOSPC: 'STATE_FULL',
  EDQUOT: 'STATE_FULL',
  EIO: 'STATE_UNWRITABLE',
  EROFS: 'STATE_UNWRITABLE',
  EACCES: 'STATE_UNREADABLE',
  EPERM: 'STATE_UNREADABLE',
}

function kindOf(error: Error, file: string): Code | null {
  const code = (error as { code?: unknown }).code
  // When the folder does not exist, better-sqlite3 throws a TypeError with this word instead of SQLite's error.
  if (error instanceof TypeError && error.message.includes('directory')) return 'STATE_UNREADABLE'
  if (typeof code !== 'string') return null
  const kind = SQLITE.find(([begins]) => code.startsWith(begins))?.[1] ?? SYSTEM[code] ?? null
  // SQLite answers an I/O error when its shared memory can't grow, or when the user's disk quota is used up.
  return kind === 'STATE_UNWRITABLE' && isFull(dirname(file)) ? 'STATE_FULL' : kind
}

function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
}

function isFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < FULL_BELOW
  } catch {
    return false
  }
}
