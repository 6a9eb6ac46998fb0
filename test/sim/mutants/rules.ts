import type { FolderRow } from '../../../src/synced/tables/folders.ts'
import { idle, never, returning } from './by.ts'
import type { By, Row } from './mutant.ts'

/** What was absent before its folder was found missing stays. */
function keepingAbsent(): Record<string, Record<string, By>> {
  let absent: Set<number> | null = null
  const recordMissing: By =
    original =>
    (...args) => {
      absent = null
      return original(...args)
    }
  const from: By = original => path => {
    const rows = original(path)
    absent ??= new Set(rows.flatMap(({ id, present }: FolderRow) => (present ? [] : id)))
    return rows
  }
  const missing: By = original => (tx, folder, why) =>
    original(tx, folder, absent?.has(folder.id) ? 'renamed' : why)
  return {
    'sync/scan/scan.ts': { 'MirrorScan.#recordMissing': recordMissing },
    'sync/scan/known-folders.ts': { 'KnownFolders.from': from },
    'sync/scan/folder-records.ts': { 'FolderRecords.missing': missing },
  }
}

/** What ignore rules hide, and what they might hide where nobody can tell. */
// biome-ignore format: a mutant is a row.
export const RULES: readonly Row[] = [
  [1_000_000_013, 'what a rule hides is given up unasked', 'a new ignore rule deletes pictures from the host',
    { 'sync/scan/folder-records.ts': { 'FolderRecords.#prunes': () => ({ image }) => image !== null } }],
  [1_000_000_014, 'what is given up is not looked at under the rules as they are',
    'what no rule hides any more is deleted',
    { 'sync/deletions/last-check.ts': { lookAt: () => () => ({ kind: 'left_out', why: 'ignored' }) } }],
  [2000060886, 'an ignore file that proves to be unreadable at a last look is no doubt',
    'what lies under it is deleted, and nobody can tell what its rules are',
    { 'sync/deletions/last-check.ts': {
      lookAt: returning(found => (found.kind === 'unknown' ? { kind: 'absent' } : found)),
    } }],
  [1_000_000_015, 'what is given up with the folder that hides it stays',
    'what was hidden before a person asked is never given up',
    keepingAbsent()],
  [1_000_000_015, 'what is hidden has no grace', 'a rule that was a mistake has cost its pictures at once',
    { 'records/escrow.ts': {
      enterEscrow: original => (tx, entry, moment) =>
        original(tx, entry, entry.reason === 'ignored' ? { ...moment, graceMs: 1 } : moment),
    } }],
  [1_000_000_016, 'under an ignore file that can not be read uploads go on', 'what it hides is published',
    { 'sync/uploads/upload-job.ts': { isAtOrBelow: never } }],
  [1_000_000_017, 'an ignore file that has vanished is believed to be gone',
    'while an editor writes it anew, what it hides is published',
    { 'sync/scan/doubts.ts': { 'VanishedRules.judge': () => (_, __, look) => look.ignoreFile } }],
  [1_000_000_010, 'an ignore file that is gone at two looks of one pass is believed to be gone',
    'the second look may come a moment after the first',
    { 'sync/scan/doubts.ts': {
      'VanishedRules.judge': original => (tx, folder, look) =>
        folder.ignore_gone === 1 ? look.ignoreFile : original(tx, folder, look),
    } }],
  [1_000_000_019, 'a folder that went with its ignore file comes back as a new one',
    'what it hid is published before its ignore file is back too',
    { 'sync/scan/doubts.ts': { 'VanishedRules.folderGoes': idle } }],
  [1_000_000_018, 'what is hidden without an image is forgotten',
    'an upload in doubt that is found is not known for what a person gave up',
    { 'sync/plan.ts': {
      planMissing: original => (file, why, policy) => {
        const isGone = why === 'ignored' && !file.image && policy.deletions === 'propagate' && policy.prunes(file)
        return original(file, isGone ? 'gone' : why, policy)
      },
    } }],
]
