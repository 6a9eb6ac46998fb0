import { extname } from 'node:path'
import type { Config } from '../../config/schema.ts'
import type { Disk, DiskEntry, DiskStat } from '../../local/disk.ts'
import { type HidingRule, hidingRule, IGNORE_FILE } from '../../local/ignore-rules.ts'
import type { FileLook, IgnoreRules } from '../../local/look.ts'
import { openPicture, PictureFileError } from '../../local/picture-file.ts'
import { FORMATS, formatOfName } from '../../protocol/formats.ts'
import { type NextStep, next } from '../../sync/outlook.ts'
import { folderAbove, foldersAbove, fullPath, nameOf, pathOf } from '../../sync/tree-path.ts'
import { because, type Reason, said } from '../../words/reasons.ts'
import type { LeftOutWhy, RuleInFile } from './explanation.ts'
import type { Location } from './location.ts'

/** `at`: the path that is left out: the path asked for, or a folder above it. `rule`: the ignore rule that hides it. */
export interface LeftOut {
  kind: 'left_out'
  why: LeftOutWhy
  at: string
  rule: HidingRule | null
  is: DiskEntry['kind']
}

/** What is at a path at this moment, by the rules of a scan. */
export type OnDisk =
  | { kind: 'picture'; look: FileLook }
  | { kind: 'folder' }
  | { kind: 'absent' }
  | LeftOut
  | { kind: 'unknown'; message: string }

/** Looks at a path below `root`. `ignore`: the config's rules. */
export function lookAtPath(disk: Disk, root: string, ignore: readonly string[], path: string): OnDisk {
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
 * The path of an entry whose name is not valid UTF-8, in the folder that `path` is missing from, or null. The missing file may
 * have been renamed to this entry.
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
    return paths.find(at => isNotUtf8(lookAtPath(disk, root, ignore, at))) ?? null
  }
  return null
}

function isNotUtf8(found: OnDisk): boolean {
  return found.kind === 'left_out' && found.why === 'NAME_NOT_UTF8'
}

/** Null when the folder does not exist or can't be read. */
function namesNotUtf8(disk: Disk, folder: string): string[] | null {
  try {
    return disk.readFolder(folder).flatMap(({ name, validUtf8 }) => (validUtf8 ? [] : [name]))
  } catch {
    return null
  }
}

interface Entry {
  kind: DiskEntry['kind']
  /** Null when the name is not UTF-8, because the system can't be asked about such a name. */
  stat: DiskStat | null
}

/** Null when nothing is there. A name that is not UTF-8 is given as it is shown: with \xNN. */
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

/** Why a scan would leave an entry out, or null. The reasons are tried in the order of a scan. */
function leftOut(
  disk: Disk,
  root: string,
  at: string,
  last: Entry | null,
  rules: readonly IgnoreRules[],
): OnDisk | null {
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

/** Why something is left out. `root`: the mirror's folder. */
export function whyLeftOut(root: string, path: string, { why, at, rule, is }: LeftOut): Reason {
  const folder = at === path ? null : fullPath(root, at)
  switch (why) {
    case 'hidden':
      return because(at === 'lost+found' ? 'is_lost_and_found' : 'is_hidden', { folder })
    case 'links':
      return because(is === 'link' ? 'is_link' : 'is_special', { folder })
    case 'ignored':
      return because('is_ignored', { folder, ...ruleInFile(root, rule!) })
    case 'format':
      return because('is_no_format', { extension: extname(path).toLowerCase(), known: KNOWN })
    case 'empty':
      return because('is_empty', { folder })
    case 'ignore_file':
      return because('is_ignore_file', { folder })
    case 'NAME_NOT_UTF8':
      return because('is_not_utf8', { folder, name: nameOf(at) })
  }
}

const KNOWN = Object.values(FORMATS).flatMap(({ extensions }) => extensions)

export function ruleInFile(root: string, { link, base, line, pattern }: HidingRule): RuleInFile {
  // The config's rules are the first of the chain.
  return { pattern, file: link === 0 ? null : `${fullPath(root, base)}/${IGNORE_FILE}`, line }
}

/** What reading a picture shows that keeps it from being sent, or null. Reads all of the file. */
export async function contentOutlook(
  { watch }: Pick<Config, 'watch'>,
  { mirror, path }: Location,
): Promise<NextStep | null> {
  try {
    const open = await openPicture(mirror.folder, path, {
      changed: () => new Error('it changed while it was read'),
    })
    await open.close()
    const { ending, look, picture } = open
    if (!picture) return next(because('no_picture'))
    if (ending.kind !== 'cut') return null
    const why = because('not_whole', { missing: ending.missing, action: watch.incomplete })
    return next(why, null, look.ctime / 1000 + Math.max(watch.settle, watch.incomplete_after))
  } catch (error) {
    if (error instanceof PictureFileError) return next(said(error.message))
    throw error
  }
}
