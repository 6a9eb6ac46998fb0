import type { Millis } from '../protocol/clock.ts'
import type { Tx } from '../synced/synced.ts'
import type { FileKey, FileRow, FileState } from '../synced/tables/files.ts'
import { ledgerNow } from './ledger-time.ts'

/** 'none': the file has no record. */
type State = FileState | 'none'

/** Every transition of a file's record, as ARCHITECTURE.md lists them. `writeFile` throws at any other, which is a bug. */
export const FILE_TRANSITIONS = {
  changed: {
    pending: ['none', 'pending', 'synced', 'linked', 'uncertain', 'failed', 'gone', 'kept', 'hidden'],
    uncertain: ['uncertain'],
    hidden: ['pending', 'synced', 'linked', 'uncertain', 'failed', 'gone'],
    kept: ['pending', 'synced', 'linked', 'uncertain', 'failed', 'gone', 'hidden'],
  },
  missing: {
    gone: ['pending', 'synced', 'linked', 'uncertain', 'failed', 'hidden'],
    none: ['pending', 'uncertain', 'failed', 'hidden'],
  },
  hashed: { pending: ['pending'] },
  stored: { synced: ['pending'], linked: ['pending'] },
  uncertain: { uncertain: ['pending'] },
  failed: { failed: ['pending'] },
  retried: { pending: ['failed'] },
  resent: { pending: ['uncertain', 'failed', 'synced', 'linked'] },
  found: {
    synced: ['uncertain', 'pending'],
    linked: ['uncertain', 'pending'],
    hidden: ['hidden'],
    pending: ['pending'],
    uncertain: ['uncertain'],
    failed: ['failed'],
  },
  'never arrived': { pending: ['uncertain', 'synced'] },
  proved: { synced: ['linked'] },
  'image gone': {
    none: ['gone', 'kept'],
    pending: ['synced', 'linked', 'pending'],
    uncertain: ['uncertain'],
    failed: ['failed'],
    hidden: ['hidden'],
  },
  'image kept': { kept: ['gone'] },
  'image taken back': { none: ['gone'] },
} as const satisfies Record<string, Partial<Record<State, readonly State[]>>>

export type FileTransition = keyof typeof FILE_TRANSITIONS

/** Writes a file's record. `was`: the file's state before this. */
export function writeFile(tx: Tx, transition: FileTransition, was: FileState, row: FileRow): void {
  check(transition, was, row.state)
  tx.waits.clear(row)
  tx.files.put(row)
}

/** Writes the records of files that a scan has found and that had none. */
export function addFiles(tx: Tx, rows: readonly FileRow[], now: Millis): void {
  for (const { state } of rows) check('changed', 'none', state)
  if (rows.length > 0) ledgerNow(tx, now)
  tx.files.add(rows.map(row => ({ ...row, since: now })))
}

/** Removes a file's record. `was`: the file's state before this. */
export function removeFile(tx: Tx, transition: FileTransition, was: FileState, file: FileKey): void {
  check(transition, was, 'none')
  tx.waits.clear(file)
  tx.files.remove(file)
}

function check(transition: FileTransition, was: State, becomes: State): void {
  const from: readonly State[] | undefined = (
    FILE_TRANSITIONS[transition] as Partial<Record<State, readonly State[]>>
  )[becomes]
  if (!from?.includes(was)) throw new Error(`"${transition}" can't make a file ${becomes} that is ${was}`)
}
