import type { Config } from '../../config/schema.ts'
import type { Disk } from '../../local/disk.ts'
import { checkRoot } from '../../sync/scan/index.ts'
import type { Synced } from '../../synced/synced.ts'
import { type Finding, fail, warn } from './finding.ts'

/**
 * What keeps a mirror's deletions where no albumd is at work to tell: a root in doubt as it is now, or what the last
 * look was in doubt of. A root that can't be looked at is checkTrees' to tell.
 */
export function checkGuards({ mirrors }: Pick<Config, 'mirrors'>, synced: Synced, disk: Disk): Finding[] {
  return mirrors.flatMap(({ folder }) => {
    const row = synced.mirrors.of(folder)
    if (!row) return []
    const root = checkRoot(disk, synced, row)
    if (!root.trusted) return root.found ? [fail('folder', `guarded: ${root.reason}`, ROOT_REMEDY)] : []
    // The next look sets an early end right by itself.
    if (row.guard === null || row.guard_code === 'SCAN_ENDED') return []
    return [fail('folder', `${folder}: guarded, as the last look found it: ${row.guard}`, LOOK_REMEDY)]
  })
}

const ROOT_REMEDY = 'do as it says; until then nothing of it is uploaded or deleted'
const LOOK_REMEDY = 'do as it says; then "albumd sync" looks again'

/** Deletions that wait for a person. */
export function checkHeld(mirrors: readonly { folder: string; held_deletions: number }[]): Finding[] {
  return mirrors
    .filter(({ held_deletions: held }) => held > 0)
    .map(({ folder, held_deletions: held }) =>
      warn(
        'folder',
        `${folder}: ${held.toLocaleString('en')} deletions are held until a person decides`,
        'albumd deletions list says which; approve lets them go, discard keeps the images',
      ),
    )
}
