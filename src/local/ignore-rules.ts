import { hash } from 'node:crypto'
import type { Ignore } from 'ignore'
import ignore from 'ignore'
import type { Disk } from './disk.ts'

/** The name of the file that holds a folder's own rules. */
export const IGNORE_FILE = '.albumdignore'

/**
 * Folders in which file systems, network storage and desktops keep thumbnails, snapshots and deleted files. Such a folder is
 * left out wherever it lies, unless a rule has it back, for example "!@eaDir/".
 */
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

/** gitignore rules and the folder that they are relative to. */
export interface IgnoreRules {
  base: string
  text: string
}

/** A folder's own rules. Null: there is no ignore file. Throws the disk's error when the ignore file can't be read. */
export function ignoreTextIn(disk: Disk, folder: string): string | null {
  try {
    return disk.readText(`${folder}/${IGNORE_FILE}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** A chain of rules, ready to be asked. */
export interface CompiledRules {
  /** Whether a rule hides this. `path` is below the root; nothing above it may be hidden. */
  hides(path: string, kind: 'file' | 'folder'): boolean
  /** Equal for equal chains. */
  fingerprint: string
}

/** As git on Linux: case counts. */
export const OPTIONS = { ignoreCase: false }

/** gitignore's semantics: a deeper rule comes later in the chain and wins. Rules that can't be read hide nothing. */
export function compileRules(chain: readonly IgnoreRules[]): CompiledRules {
  const links = chain.map(compiled)
  const fingerprint = links.map(link => link.fingerprint).join()
  const patterns = links.flatMap(link => link.patterns ?? [])
  // An object of `ignore` keeps each of its answers. A new object for each folder keeps only the answers for that
  // folder.
  const rules = patterns.length > 0 ? ignore(OPTIONS).add(patterns) : null
  const hides: CompiledRules['hides'] = (path, kind) => {
    const system = systemPattern(path, kind)
    if (system !== null) return ignore(OPTIONS).add(system).add(patterns).ignores(`${path}/`)
    return rules?.ignores(kind === 'folder' ? `${path}/` : path) ?? false
  }
  return { hides, fingerprint }
}

const SYSTEM = 'system'

/** The pattern that leaves out a folder of the system, or null. The pattern comes first, so that any other rule wins. */
function systemPattern(path: string, kind: 'file' | 'folder'): string | null {
  const isSystem = kind === 'folder' && SYSTEM_FOLDERS.has(path.slice(path.lastIndexOf('/') + 1))
  return isSystem ? `/${literal(path)}/` : null
}

/** A path as a pattern that matches only this path. */
function literal(path: string): string {
  return path.replace(/[\\*?[]/g, '\\$&')
}

interface Link {
  /** Relative to the root. Null: the text has no patterns. */
  patterns: Ignore | null
  fingerprint: string
}

/** The latest rules, compiled. Most folders of a tree have the same rules, and compiling takes longer than asking. */
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

/** A pattern as it is written, its line, and the same pattern relative to the root. */
interface WrittenPattern {
  written: string
  /** The line number, from 1. */
  line: number
  base: string
  pattern: string
}

/** The patterns of some rules; what can't be understood is left out. */
function writtenPatterns({ base, text }: IgnoreRules): WrittenPattern[] {
  const lines = text.replace(/^\u{FEFF}/u, '').split(/\r?\n|\r$/)
  return lines
    .map((written, at) => ({ written, line: at + 1 }))
    .filter(({ written }) => !written.startsWith('#') && !EMPTY.has(withoutSpaces(written)))
    .map(({ written, line }) => ({ written, line, base, pattern: rebased(written, base) }))
    .filter(({ pattern }) => isUnderstood(pattern))
}

const EMPTY = new Set(['', '!', '/', '!/'])

/**
 * A pattern relative to `base` as one relative to the root. All rules must be in one list, because the last rule that
 * matches a folder decides whether it is hidden, and `ignore` itself asks about every folder above a path.
 */
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

/**
 * Whether a pattern can be used. A pattern that is too large for a regular expression fails at the first test, for
 * Latin-1 text and for wider text separately.
 */
function isUnderstood(pattern: string): boolean {
  try {
    const rule = ignore(OPTIONS).add([pattern])
    rule.ignores('x')
    rule.ignores('ж')
    return true
  } catch {
    return false
  }
}

/**
 * A rule as written in its ignore file or in the config. `link`: which text the rule is from. 0 is the config's, and each
 * ignore file from the root down counts one more.
 */
export type HidingRule = WrittenPattern & { link: number }

/**
 * The rule that hides a path, or null. The last rule of the chain that matches counts. 'system': the path is a folder of the
 * system that no rule has back. `path`: below the root.
 */
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
