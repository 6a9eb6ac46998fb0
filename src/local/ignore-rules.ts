import { hash } from 'node:crypto'
import type { Ignore } from 'ignore'
import ignore from 'ignore'
import type { Disk } from './disk.ts'

/** The name of the file that holds a folder's own rules. */
export const IGNORE_FILE = '.albumdignore'

/** Folders in which systems keep thumbnails, snapshots and deleted files. Left out unless a rule such as "!@eaDir/" wins. */
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set([
  'lost+found',
  '@eaDir',
  '#recycle',
  '#snapshot',
  '@Recycle',
  '@Recently-Snapshot',
  '$RECYCLE.BIN',
  '$Recycle.Bin',
  'RECYCLER',
  'System Volume Information',
])

/** A text of gitignore rules, and the folder that the rules are relative to. */
export interface IgnoreRules {
  base: string
  text: string
}

/** The rules that the config names for a mirror. */
export function rulesOfConfig(ignore: readonly string[]): IgnoreRules {
  return { base: '', text: ignore.join('\n') }
}

/** The text of a folder's ignore file. Null: the folder has none. Throws the disk's error when the file can't be read. */
export function ignoreTextIn(disk: Disk, folder: string): string | null {
  try {
    return disk.readText(`${folder}/${IGNORE_FILE}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The rules of several texts, compiled so that they can be asked about a path. */
export interface CompiledRules {
  /** Whether a rule hides the file or folder at `path`, a path below the root. No rule may hide a folder above the path. */
  hides(path: string, kind: 'file' | 'folder'): boolean
  /** A text that is the same only for chains with equal texts. */
  fingerprint: string
}

/** Rules distinguish upper and lower case, as git does on Linux. */
export const OPTIONS = { ignoreCase: false }

/** Compiles rules as git reads them: the last rule that matches decides. A rule that can't be understood hides nothing. */
export function compileRules(chain: readonly IgnoreRules[]): CompiledRules {
  const links = chain.map(compiled)
  const fingerprint = links.map(link => link.fingerprint).join()
  const patterns = links.flatMap(link => link.patterns ?? [])
  // Each folder has a new object, because one of the package `ignore` remembers all its answers.
  const rules = patterns.length > 0 ? ignore(OPTIONS).add(patterns) : null
  const hides: CompiledRules['hides'] = (path, kind) => {
    const system = systemPattern(path, kind)
    if (system !== null) return ignore(OPTIONS).add(system).add(patterns).ignores(`${path}/`)
    return rules?.ignores(kind === 'folder' ? `${path}/` : path) ?? false
  }
  return { hides, fingerprint }
}

const SYSTEM = 'system'

/** The pattern that leaves out a folder of the system, or null. It comes first, so that all other rules win over it. */
function systemPattern(path: string, kind: 'file' | 'folder'): string | null {
  const isSystem = kind === 'folder' && SYSTEM_FOLDERS.has(path.slice(path.lastIndexOf('/') + 1))
  return isSystem ? `/${literal(path)}/` : null
}

/** A path as a pattern that matches only this path. */
function literal(path: string): string {
  return path.replace(/[\\*?[]/g, '\\$&')
}

interface Link {
  /** The text's patterns, relative to the root. Null: the text has no patterns. */
  patterns: Ignore | null
  fingerprint: string
}

/** The rule texts that were compiled last. Most folders have the same rules, and compiling takes longer than asking. */
const seen = new Map<string, Link>()
const SEEN_MAX = 64

function compiled({ base, text }: IgnoreRules): Link {
  const key = `${base}\0${text}`
  const known = seen.get(key)
  if (known) return known
  if (seen.size >= SEEN_MAX) seen.clear()
  const patterns = writtenPatterns({ base, text }).map(({ pattern }) => pattern)
  const link = {
    patterns: patterns.length > 0 ? ignore(OPTIONS).add(patterns) : null,
    fingerprint: hash('sha256', key, 'base64'),
  }
  seen.set(key, link)
  return link
}

/** A pattern as somebody wrote it (`written`) and relative to the root (`pattern`). */
interface WrittenPattern {
  written: string
  /** The number of the pattern's line; the first line is 1. */
  line: number
  base: string
  pattern: string
}

/** The patterns of a text. Comments, empty lines and patterns that can't be understood are not among them. */
function writtenPatterns({ base, text }: IgnoreRules): WrittenPattern[] {
  const lines = text.replace(/^\u{FEFF}/u, '').split(/\r?\n|\r$/)
  return lines
    .map((written, at) => ({ written, line: at + 1 }))
    .filter(({ written }) => !written.startsWith('#') && !EMPTY.has(withoutSpaces(written)))
    .map(({ written, line }) => ({ written, line, base, pattern: rebased(written, base) }))
    .filter(({ pattern }) => isUnderstood(pattern))
}

const EMPTY = new Set(['', '!', '/', '!/'])

/** Changes a pattern that is relative to `base` into one that is relative to the root. All rules must be in one list,
 * because the last rule that matches decides, and `ignore` itself tests each folder above a path against the whole list. */
function rebased(pattern: string, base: string): string {
  if (base === '') return pattern
  const not = pattern.startsWith('!') ? '!' : ''
  const body = pattern.slice(not.length)
  const anchored = withoutSpaces(body).slice(0, -1).includes('/')
  return `${not}/${literal(base)}/${anchored ? body.replace(/^\//, '') : `**/${body}`}`
}

function withoutSpaces(line: string): string {
  let end = line.length
  while (line[end - 1] === ' ') end--
  return line.slice(0, end)
}

/** The longest pattern. No path is longer. `ignore` takes minutes for a crafted line of a megabyte. */
const PATTERN_MOST = 4096

/** Whether a pattern can be used. `ignore` makes a regular expression of a pattern when it first tests a text with it: one
 * for Latin-1 text, and another for other text. When the pattern is too large for a regular expression, this test throws. */
function isUnderstood(pattern: string): boolean {
  if (pattern.length > PATTERN_MOST) return false
  try {
    const rule = ignore(OPTIONS).add([pattern])
    rule.ignores('x')
    rule.ignores('ж')
    return true
  } catch {
    return false
  }
}

/** A rule as written. `link`: 0 is the config, 1 the root's ignore file, and each deeper ignore file one more. */
export type HidingRule = WrittenPattern & { link: number }

/** The rule that hides a path: the last that matches. Null: none does. 'system': a folder of the system, and no rule. */
export function hidingRule(
  chain: readonly IgnoreRules[],
  path: string,
  kind: 'file' | 'folder',
): HidingRule | 'system' | null {
  const all = chain.flatMap((rules, link) => writtenPatterns(rules).map(rule => ({ ...rule, link })))
  const system = systemPattern(path, kind)
  const asked = ignore(OPTIONS)
  if (system !== null) asked.add({ pattern: system, mark: SYSTEM })
  asked.add(all.map(({ pattern }, at) => ({ pattern, mark: String(at) })))
  const { ignored, rule } = asked.test(kind === 'folder' ? `${path}/` : path)
  if (!ignored) return null
  return rule?.mark === SYSTEM ? SYSTEM : all[Number(rule?.mark)]!
}
