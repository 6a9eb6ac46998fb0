import { extname } from 'node:path'
import type { Disk, DiskEntry, DiskStat } from '../../local/disk.ts'
import {
  compileRules,
  type HidingRule,
  hidingRule,
  IGNORE_FILE,
  type IgnoreRules,
  ignoreTextIn,
  rulesOfConfig,
} from '../../local/ignore-rules.ts'
import type { FileLook } from '../../local/look.ts'
import { FORMATS, isPictureName } from '../../protocol/formats.ts'
import { because, type Reason } from '../../words/reasons.ts'
import type { MirrorPolicy } from '../pass-request.ts'
import { foldersAbove, fullPath, nameOf, pathOf } from '../tree-path.ts'

/** A place in a mirror. `path`: below the mirror's folder; '' is the folder itself. */
export interface MirrorLocation {
  mirror: MirrorPolicy
  path: string
}

/** Why something that exists is not mirrored, as `why --json` shows it. */
export type LeftOutWhy = 'hidden' | 'links' | 'ignored' | 'format' | 'empty' | 'ignore_file'

/** An ignore rule. `file`: null for one of the config. `line`: the line in the file, or the place in the config, from 1. */
export interface RuleInFile {
  pattern: string
  file: string | null
  line: number
}

/** A path that is not mirrored. `at`: the path, or the folder above it that is left out. `rule`: what hides `at`. */
export interface LeftOut {
  kind: 'left_out'
  why: LeftOutWhy
  at: string
  rule: RuleInFile | null
  reason: Reason
}

/** A folder that can't be read. Nobody knows what it holds and leaves out. */
interface Unread {
  kind: 'unread'
  at: string
  reason: Reason
}

/** What lies at a location now, by the disk and the rules of a scan. */
export type OnDisk =
  | { kind: 'picture'; look: FileLook }
  | { kind: 'folder' }
  | { kind: 'absent' }
  | LeftOut
  /** The place can't be looked at. `isFolder`: the disk still says that it is a folder. */
  | { kind: 'unknown'; why: Reason; isFolder: boolean }

export function lookAt(disk: Disk, { mirror, path }: MirrorLocation): OnDisk {
  const { folder: root, ignore } = mirror
  let entry: DiskStat | null = null
  try {
    entry = statAt(disk, root, path)
    if (entry === null) return { kind: 'absent' }
    const rules = [rulesOfConfig(ignore)]
    for (const above of [...foldersAbove(path), path]) {
      const isLast = above === path
      const left = above === '' ? null : leftOut(disk, mirror, above, path, isLast ? entry : null, rules)
      if (left) return left
      if (!isLast) rules.push(...ownRules(disk, root, above))
    }
    if (entry.kind === 'folder') return folderAt(disk, root, path)
    const { size, mtime, ctime, ino } = entry
    return { kind: 'picture', look: { name: nameOf(path), size, mtime, ctime, ino } }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    const isFolder = entry?.kind === 'folder'
    return { kind: 'unknown', why: because('not_visible', { code, words: message }), isFolder }
  }
}

function folderAt(disk: Disk, root: string, path: string): OnDisk {
  try {
    disk.readFolder(fullPath(root, path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return { kind: 'unknown', why: because('folder_unreadable', { code }), isFolder: true }
  }
  // Fails where the folder's ignore file can't be read: a scan does not believe such a folder.
  ownRules(disk, root, path)
  return { kind: 'folder' }
}

/** What is left out at and below a location, folder by folder. A folder that is left out stands for all in it. */
export function* leftOutBelow(disk: Disk, location: MirrorLocation): Generator<LeftOut | Unread> {
  const { mirror, path } = location
  const found = lookAt(disk, location)
  if (found.kind === 'left_out') yield found
  if (found.kind === 'unknown') yield { kind: 'unread', at: path, reason: found.why }
  if (found.kind !== 'folder') return
  const rules = [rulesOfConfig(mirror.ignore)]
  for (const above of path === '' ? [] : foldersAbove(path))
    rules.push(...ownRules(disk, mirror.folder, above))
  yield* leftOutIn(disk, mirror, path, rules)
}

function* leftOutIn(
  disk: Disk,
  mirror: MirrorPolicy,
  folder: string,
  above: readonly IgnoreRules[],
): Generator<LeftOut | Unread> {
  const root = mirror.folder
  let rules: IgnoreRules[]
  let entries: DiskEntry[]
  try {
    rules = [...above, ...ownRules(disk, root, folder)]
    entries = disk.readFolder(fullPath(root, folder))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    if (code !== 'ENOENT')
      yield { kind: 'unread', at: folder, reason: because('folder_not_listed', { code }) }
    return
  }
  const compiled = compileRules(rules)
  for (const { name } of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const at = pathOf(folder, name)
    const entry = statAt(disk, root, at)
    if (entry === null) continue
    const left = leftOut(disk, mirror, at, at, entry, rules, compiled)
    if (left) yield left
    else if (entry.kind === 'folder') yield* leftOutIn(disk, mirror, at, rules)
  }
}

function ownRules(disk: Disk, root: string, base: string): IgnoreRules[] {
  const text = ignoreTextIn(disk, fullPath(root, base))
  return text === null ? [] : [{ base, text }]
}

/** What lies at a path, or null. */
function statAt(disk: Disk, root: string, path: string): DiskStat | null {
  try {
    return disk.lstat(fullPath(root, path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ENAMETOOLONG') throw error
    return null
  }
}

export const HOST_TAKES = Object.values(FORMATS).flatMap(({ extensions }) => extensions)

/** Decides about `at`, which is the path in question or a folder above it, as a scan does. `last`: what lies at the path. */
function leftOut(
  disk: Disk,
  { folder: root, converts = false }: MirrorPolicy,
  at: string,
  path: string,
  last: DiskStat | null,
  rules: readonly IgnoreRules[],
  compiled = compileRules(rules),
): LeftOut | null {
  const { kind: is } = last ?? disk.lstat(fullPath(root, at))
  const left = (why: LeftOutWhy, reason: Reason, rule: RuleInFile | null = null): LeftOut => ({
    kind: 'left_out',
    why,
    at,
    rule,
    reason,
  })
  const name = nameOf(at)
  const above = { at: at === path ? null : fullPath(root, at) }
  if (name === IGNORE_FILE && is === 'file') return left('ignore_file', because('ignore_file', above))
  if (name.startsWith('.')) return left('hidden', because('hidden_name', above))
  if (is === 'link') return left('links', because('symbolic_link', above))
  if (is === 'special') return left('links', because('special_file', above))
  const hiding = compiled.hides(at, is) ? hidingRule(rules, at, is) : null
  if (hiding === 'system') return left('ignored', because('system_folder', { ...above, name }))
  if (hiding) {
    const rule = ruleInFile(root, hiding)
    return left('ignored', because('rule_ignores', { ...above, rule }), rule)
  }
  if (is === 'file' && !isPictureName(name, converts)) {
    const extension = extname(path).toLowerCase()
    return left('format', because('other_format', { extension, known: HOST_TAKES }))
  }
  return is === 'file' && last?.size === 0 ? left('empty', because('empty_file', above)) : null
}

/** The file and line of a rule. Link 0 of a chain holds the config's rules, and each other link those of an ignore file. */
function ruleInFile(root: string, { link, base, line, written }: HidingRule): RuleInFile {
  return { pattern: written, file: link === 0 ? null : `${fullPath(root, base)}/${IGNORE_FILE}`, line }
}
