import type { Mutant } from './mutant.ts'

/** What ignore rules hide, and what they might hide where nobody can tell. */
export const RULES: readonly Mutant[] = [
  {
    name: 'what a rule hides is given up unasked',
    edits: [
      {
        file: 'sync/scan/folder-records.ts',
        find: 'if (this.#pruneIgnored) return true',
        replace: 'if (file.image !== null) return true',
      },
      {
        file: 'sync/scan/folder-records.ts',
        find: '#prunes({ state, image }: FileRow): boolean {',
        replace: '#prunes(file: FileRow): boolean {\n    const { state, image } = file',
      },
    ],
    why: 'a new ignore rule deletes pictures from the host',
    seed: 1_000_000_013,
  },
  {
    name: 'what is given up is not looked at under the rules as they are',
    file: 'sync/deletions/last-check.ts',
    find: "return found.kind === 'left_out' && found.why === 'ignored'",
    replace: 'return found !== undefined',
    why: 'what no rule hides any more is deleted',
    seed: 1_000_000_014,
  },
  {
    name: 'what is given up with the folder that hides it stays',
    file: 'sync/scan/scan.ts',
    find: "absent.has(folder.id) ? 'ignored' : why",
    replace: "absent.has(folder.id) ? 'renamed' : why",
    why: 'what was hidden before a person asked is never given up',
    seed: 1_000_000_015,
  },
  {
    name: 'what is hidden has no grace',
    file: 'records/escrow.ts',
    find: 'WITHOUT_GRACE : running + graceMs',
    replace: "WITHOUT_GRACE : running + (reason === 'ignored' ? 0 : graceMs)",
    why: 'a rule that was a mistake has cost its pictures at once',
    seed: 1_000_000_015,
  },
  {
    name: 'under an ignore file that can not be read uploads go on',
    file: 'sync/uploads/upload-job.ts',
    find: 'if (unknown.some(path => isAtOrBelow(folder.path, path))) return null',
    replace: 'if (unknown.some(path => path !== path)) return null',
    why: 'what it hides is published',
    seed: 1_000_000_016,
  },
  {
    name: 'an ignore file that has vanished is believed to be gone',
    file: 'sync/scan/doubts.ts',
    find: 'if (!vanished || isStillGone) return ignoreFile',
    replace: 'if (isStillGone || true) return ignoreFile',
    why: 'while an editor writes it anew, what it hides is published',
    seed: 1_000_000_017,
  },
  {
    name: 'an ignore file that is gone at two looks of one pass is believed to be gone',
    file: 'sync/scan/doubts.ts',
    find: 'folder.ignore_gone === 1 && !isJustGone',
    replace: 'folder.ignore_gone === 1',
    why: 'the second look may come a moment after the first',
    seed: 1_000_000_010,
  },
  {
    name: 'a folder that went with its ignore file comes back as a new one',
    file: 'sync/scan/scan.ts',
    find: 'this.#context.vanishedRules.folderGoes(folder)',
    replace: '',
    why: 'what it hid is published before its ignore file is back too',
    seed: 1_000_000_019,
  },
  {
    name: 'what is hidden without an image is forgotten',
    file: 'sync/plan.ts',
    find: "deletions === 'propagate' && file.image !== null",
    replace: "deletions === 'propagate'",
    why: 'an upload in doubt that is found is not known for what a person gave up',
    seed: 1_000_000_018,
  },
]
