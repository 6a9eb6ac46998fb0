import { realDisk } from '../../local/disk.ts'
import { leftOutBelow, type MirrorLocation } from '../../sync/outlook/index.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { inWords } from '../../words/reasons.ts'
import { printable } from '../../words/text.ts'
import { SCHEMA } from './output.ts'

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
