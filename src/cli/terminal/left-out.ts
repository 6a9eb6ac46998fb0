import { extname } from 'node:path'
import { realDisk } from '../../local/disk.ts'
import { leftOutBelow, type MirrorLocation } from '../../sync/outlook/index.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { inWords } from '../../words/reasons.ts'
import { count, inDigits, printable } from '../../words/text.ts'
import { SCHEMA } from './output.ts'

/** How many kinds of files are named. */
const KINDS_NAMED = 4

/** The files that are left out because of their format, in one line. Null: there are none. */
export function formatsInWords(places: readonly MirrorLocation[]): string | null {
  const kinds = new Map<string, number>()
  for (const place of places)
    for (const { why, at } of leftOutBelow(realDisk, place)) {
      if (why !== 'format') continue
      const kind = extname(at).slice(1).toUpperCase() || 'without an extension'
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    }
  const files = [...kinds.values()].reduce((sum, n) => sum + n, 0)
  if (files === 0) return null
  const sorted = [...kinds].sort(([, one], [, other]) => other - one)
  const named = sorted.slice(0, KINDS_NAMED).map(([kind, n]) => `${inDigits(n)} ${printable(kind)}`)
  const rest = sorted.length > KINDS_NAMED ? ', …' : ''
  const are = files === 1 ? 'is' : 'are'
  return `${count(files, 'file')} ${are} left out (${named.join(', ')}${rest}): albumd ls --left-out`
}

/** The lines of `ls --left-out`. Ignore files are left out of the listing, because nobody expects them on the host. */
export function* leftOutLines(places: readonly MirrorLocation[], isJson: boolean): Generator<string> {
  let before = `{"schema":${SCHEMA},"left_out":[`
  for (const place of places)
    for (const { why, at, reason } of leftOutBelow(realDisk, place)) {
      if (why === 'ignore_file') continue
      const path = fullPath(place.mirror.folder, at)
      if (!isJson) yield `${printable(path)}: ${printable(inWords(reason))}\n`
      else {
        yield `${before}\n${JSON.stringify({ mirror: place.mirror.folder, path, why, reason: inWords(reason) })}`
        before = ','
      }
    }
  if (isJson) yield before === ',' ? '\n]}\n' : `${before}]}\n`
}
