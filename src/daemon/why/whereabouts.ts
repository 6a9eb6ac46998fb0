import type { Disk, DiskEntry, DiskStat } from '../../local/disk.ts'
import { type HidingRule, hidingRule, IGNORE_FILE } from '../../local/ignore-rules.ts'
import type { FileLook, IgnoreRules } from '../../local/look.ts'
import { formatOfName } from '../../protocol/formats.ts'
import { folderAbove, foldersAbove, fullPath, nameOf, pathOf } from '../../sync/tree-path.ts'

/** Why something that is there is not mirrored. */
export type LeftOutWhy = 'hidden' | 'links' | 'ignored' | 'format' | 'empty' | 'ignore_file' | 'NAME_NOT_UTF8'

/** `at`: what is left out, which may be a folder above. `rule`: of one that a rule hides. */
export interface LeftOut {
  kind: 'left_out'
  why: LeftOutWhy
  at: string
  rule: HidingRule | null
  is: DiskEntry['kind']
}

/** What is at a path at this moment, looked at anew with the rules of a scan. */
export type Whereabouts =
  | { kind: 'picture'; look: FileLook }
  | { kind: 'folder' }
  | { kind: 'absent' }
  | LeftOut
  | { kind: 'unknown'; message: string }

/** Looks at a path below `root`. `ignore`: the config's rules, which stand first with the base ''. */
export function whereIs(disk: Disk, root: string, ignore: readonly string[], path: string): Whereabouts {
  try {
    const entry = entryAt(disk, root, path)
    if (entry === null) return { kind: 'absent' }
    const rules: IgnoreRules[] = [{ base: '', text: ignore.join('\n') }]
    for (const above of [...foldersAbove(path), path]) {
      const left = above === '' ? null : leftOut(disk, root, above, above === path ? entry : null, rules)
      if (left) return left
      const text =
        above === path && entry.kind !== 'folder' ? null : ignoreTextIn(disk, fullPath(root, above))
      if (text !== null) rules.push({ base: above, text })
    }
    if (entry.kind === 'folder' || entry.stat === null) return { kind: 'folder' }
    const { size, mtime, ctime, ino } = entry.stat
    return { kind: 'picture', look: { name: nameOf(path), size, mtime, ctime, ino } }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return { kind: 'unknown', message }
  }
}

/**
 * A name that is not valid UTF-8, in the folder that lacks `path`: it may be what is missing there. Answers its path
 * below `root`, or null.
 */
export function perhapsRenamedTo(
  disk: Disk,
  root: string,
  ignore: readonly string[],
  path: string,
): string | null {
  for (const above of [...foldersAbove(path)].reverse()) {
    const names = namesNotUtf8(disk, fullPath(root, above))
    if (names === null) continue
    const paths = names.map(name => pathOf(above, name))
    return paths.find(at => isNotUtf8(whereIs(disk, root, ignore, at))) ?? null
  }
  return null
}

function isNotUtf8(where: Whereabouts): boolean {
  return where.kind === 'left_out' && where.why === 'NAME_NOT_UTF8'
}

/** Null where there is no such folder, or it can't be read. */
function namesNotUtf8(disk: Disk, folder: string): string[] | null {
  try {
    return disk.readFolder(folder).flatMap(({ name, validUtf8 }) => (validUtf8 ? [] : [name]))
  } catch {
    return null
  }
}

interface Entry {
  kind: DiskEntry['kind']
  /** Null: its name can't be asked about. */
  stat: DiskStat | null
}

/** Null where nothing is there. A name that is not UTF-8 is known by how it is shown: with \xNN. */
function entryAt(disk: Disk, root: string, path: string): Entry | null {
  try {
    const stat = disk.lstat(fullPath(root, path))
    return { kind: stat.kind, stat }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ENAMETOOLONG') throw error
  }
  if (!nameOf(path).includes('\\x')) return null
  try {
    const entries = disk.readFolder(fullPath(root, folderAbove(path)))
    const kind = entries.find(({ name, validUtf8 }) => !validUtf8 && name === nameOf(path))?.kind
    return kind === undefined ? null : { kind, stat: null }
  } catch {
    return null
  }
}

/** In the order in which a scan asks. */
function leftOut(
  disk: Disk,
  root: string,
  at: string,
  last: Entry | null,
  rules: readonly IgnoreRules[],
): Whereabouts | null {
  const { kind: is, stat } = last ?? { kind: disk.lstat(fullPath(root, at)).kind, stat: null }
  const left = (why: LeftOutWhy, rule: HidingRule | null = null) =>
    ({ kind: 'left_out', why, at, rule, is }) as const
  const name = nameOf(at)
  if (name === IGNORE_FILE && is === 'file') return left('ignore_file')
  if (name.startsWith('.') || at === 'lost+found') return left('hidden')
  if (is === 'link' || is === 'special') return left('links')
  const rule = hidingRule(rules, at, is)
  if (rule) return left('ignored', rule)
  if (is === 'file' && formatOfName(name) === null) return left('format')
  if (last && stat === null) return left('NAME_NOT_UTF8')
  return is === 'file' && stat?.size === 0 ? left('empty') : null
}

function ignoreTextIn(disk: Disk, folder: string): string | null {
  try {
    return disk.readText(`${folder}/${IGNORE_FILE}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
