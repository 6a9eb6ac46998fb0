import { extname } from 'node:path'
import { IGNORE_FILE } from '../../local/ignore-rules.ts'
import { FORMATS } from '../../protocol/formats.ts'
import { fullPath, nameOf } from '../../sync/tree-path.ts'
import type { GoneSummary } from '../../synced/summary.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { HistoryEvent, HistoryRow } from '../../synced/tables/history.ts'
import { because, inWords, type ReasonCode } from '../../words/reasons.ts'
import type { Explanation, RuleInFile } from './explanation.ts'
import type { LeftOut } from './whereabouts.ts'

/** Why something is left out. `root`: the mirror's folder. */
export function leftOutInWords(root: string, path: string, { why, at, rule, is }: LeftOut): string {
  const what = at === path ? 'it' : `${fullPath(root, at)}, in which it lies,`
  switch (why) {
    case 'hidden':
      return at === 'lost+found'
        ? `${what} is where a file system puts what it found: it is never mirrored`
        : `${what} is hidden: its name begins with a dot`
    case 'links':
      return is === 'link'
        ? `${what} is a symbolic link: a picture is mirrored where it really lies`
        : `${what} is no regular file`
    case 'ignored': {
      const { file, line, pattern } = ruleInFile(root, rule!)
      const where = file === null ? 'mirrors[].ignore of the config' : `line ${line} of ${file}`
      return `${what} is hidden by the rule ${pattern} in ${where}`
    }
    case 'format':
      return `${formatInWords(path)} is none of the formats that the host takes: ${KNOWN.join(', ')}`
    case 'empty':
      return `${what} is empty`
    case 'ignore_file':
      return `${what} holds ignore rules for its folder`
    case 'NAME_NOT_UTF8':
      return `${what} has a name that is not valid UTF-8, and that is written ${nameOf(at)} here: rename it; until then nothing that is missing from its folder counts as deleted`
  }
}

const KNOWN = Object.values(FORMATS).flatMap(({ extensions }) => extensions)

function formatInWords(path: string): string {
  const extension = extname(path).toLowerCase()
  return extension === '' ? 'a file without an extension' : extension
}

export function ruleInFile(
  root: string,
  { link, base, line, pattern }: LeftOut['rule'] & object,
): RuleInFile {
  // The config's rules come first.
  return { pattern, file: link === 0 ? null : `${fullPath(root, base)}/${IGNORE_FILE}`, line }
}

const STANDING: ReadonlySet<HistoryEvent> = new Set(['uploaded', 'adopted', 'linked', 'unchanged', 'arrived'])

/** Why a record is in its state: what went wrong, or the planner's reason, which the history keeps. */
export function reasonOf(
  file: FileRow,
  history: readonly HistoryRow[],
  failure: Explanation['failure'],
): string {
  const last = (event: HistoryEvent, otherwise: ReasonCode & ('gone' | 'image_kept' | 'left_out')) =>
    inWords(history.findLast(row => row.event === event)?.detail ?? because(otherwise))
  switch (file.state) {
    case 'synced':
      return 'its image has the bytes that it had when it was last read'
    case 'pending':
      return whyPending(file, history)
    case 'linked':
      return 'an image of its name, dimensions and size was on the host already; their bytes are not compared yet'
    case 'failed':
    case 'uncertain':
      return failure ? `${failure.message} (${failure.code})` : 'what went wrong is not recorded'
    case 'gone':
      return last('gone', 'gone')
    case 'kept':
      return last('kept', 'image_kept')
    case 'hidden':
      return last('left_out', 'left_out')
  }
}

/** What became of a folder that is gone, as far as the records tell. */
export function goneFolderInWords({ waiting, held, deleted }: GoneSummary): string {
  const images = [
    [waiting, waiting === 1 ? 'waits to be deleted' : 'wait to be deleted'],
    [held, held === 1 ? 'is held' : 'are held'],
    [deleted, deleted === 1 ? 'was deleted' : 'were deleted'],
  ] as const
  const told = images.flatMap(([n, what]) => (n > 0 ? [`${n} ${what}`] : []))
  return `the folder is gone${told.length > 0 ? `; of the images of its pictures ${told.join(', ')}` : ''}`
}

function whyPending({ image }: FileRow, history: readonly HistoryRow[]): string {
  const before = history.findLastIndex(({ event }) => STANDING.has(event))
  const since = history.slice(before + 1).findLast(({ event }) => event === 'changed' || event === 'lost')
  return inWords(since?.detail ?? because(image === null ? 'new' : 'touched'))
}
