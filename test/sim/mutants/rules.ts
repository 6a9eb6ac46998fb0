import type { FolderRow } from '../../../src/synced/tables/folders.ts'
import { idle, never } from './by.ts'
import type { By, Mutant } from './mutant.ts'

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
export const RULES: readonly Mutant[] = [
  {
    name: 'what a rule hides is given up unasked',
    why: 'a new ignore rule deletes pictures from the host',
    seed: 1_000_000_013,
    instead: {
      'sync/scan/folder-records.ts': {
        'FolderRecords.#prunes':
          () =>
          ({ image }) =>
            image !== null,
      },
    },
  },
  {
    name: 'what is given up is not looked at under the rules as they are',
    why: 'what no rule hides any more is deleted',
    seed: 1_000_000_014,
    instead: {
      'sync/deletions/last-check.ts': { lookAt: () => () => ({ kind: 'left_out', why: 'ignored' }) },
    },
  },
  {
    name: 'what is given up with the folder that hides it stays',
    why: 'what was hidden before a person asked is never given up',
    seed: 1_000_000_015,
    instead: keepingAbsent(),
  },
  {
    name: 'what is hidden has no grace',
    why: 'a rule that was a mistake has cost its pictures at once',
    seed: 1_000_000_015,
    instead: {
      'records/escrow.ts': {
        enterEscrow: original => (tx, entry, moment) =>
          original(tx, entry, entry.reason === 'ignored' ? { ...moment, graceMs: 1 } : moment),
      },
    },
  },
  {
    name: 'under an ignore file that can not be read uploads go on',
    why: 'what it hides is published',
    seed: 1_000_000_016,
    instead: { 'sync/uploads/upload-job.ts': { isAtOrBelow: never } },
  },
  {
    name: 'an ignore file that has vanished is believed to be gone',
    why: 'while an editor writes it anew, what it hides is published',
    seed: 1_000_000_017,
    instead: { 'sync/scan/doubts.ts': { 'VanishedRules.judge': () => (_, __, look) => look.ignoreFile } },
  },
  {
    name: 'an ignore file that is gone at two looks of one pass is believed to be gone',
    why: 'the second look may come a moment after the first',
    seed: 1_000_000_010,
    instead: {
      'sync/scan/doubts.ts': {
        'VanishedRules.judge': original => (tx, folder, look) =>
          folder.ignore_gone === 1 ? look.ignoreFile : original(tx, folder, look),
      },
    },
  },
  {
    name: 'a folder that went with its ignore file comes back as a new one',
    why: 'what it hid is published before its ignore file is back too',
    seed: 1_000_000_019,
    instead: { 'sync/scan/doubts.ts': { 'VanishedRules.folderGoes': idle } },
  },
  {
    name: 'what is hidden without an image is forgotten',
    why: 'an upload in doubt that is found is not known for what a person gave up',
    seed: 1_000_000_018,
    instead: {
      'sync/plan.ts': {
        planMissing: original => (file, why, policy, now) =>
          original(
            file,
            why === 'ignored' &&
              file.image === null &&
              policy.deletions === 'propagate' &&
              policy.prunes(file)
              ? 'gone'
              : why,
            policy,
            now,
          ),
      },
    },
  },
]
