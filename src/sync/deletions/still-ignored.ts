import type { Disk } from '../../local/disk.ts'
import { compileRules, IGNORE_FILE } from '../../local/ignore-rules.ts'
import type { IgnoreRules } from '../../local/look.ts'
import { foldersAbove, fullPath, pathOf } from '../tree-path.ts'

/**
 * Whether an ignore rule hides a file at this moment, by the ignore files as they are on the disk. `path`: below the
 * root. `ignore`: the config's rules. Throws what the disk throws where an ignore file can't be read.
 */
export function isStillIgnored(disk: Disk, root: string, path: string, ignore: readonly string[]): boolean {
  const rules: IgnoreRules[] = [{ base: '', text: ignore.join('\n') }]
  const isHidden = (at: string, kind: 'file' | 'folder') =>
    disk.lstat(`${root}/${at}`).kind === kind && compileRules(rules).hides(at, kind)
  for (const base of foldersAbove(path)) {
    if (base !== '' && isHidden(base, 'folder')) return true
    const text = ignoreTextIn(disk, fullPath(root, base))
    if (text !== null) rules.push({ base, text })
  }
  return isHidden(path, 'file')
}

function ignoreTextIn(disk: Disk, folder: string): string | null {
  try {
    return disk.readText(pathOf(folder, IGNORE_FILE))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
