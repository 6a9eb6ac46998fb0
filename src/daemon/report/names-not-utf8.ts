import { formatOfName } from '../../protocol/formats.ts'
import { pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { codeOf } from '../../words/reasons.ts'

/** What names that are not valid UTF-8 mean for a mirror's counts. */
export interface NamesNotUtf8 {
  /** Pictures on the disk, by their extension. They have no record. */
  pictures: number
  /** Recorded pictures that are missing beside such a name, and whose image stays: each may have got that name. */
  perhapsRenamed: number
}

export function namesNotUtf8(synced: Synced, mirror: number): NamesNotUtf8 {
  const bad = synced.summaries.namesOfCode(mirror, 'NAME_NOT_UTF8')
  if (bad.length === 0) return { pictures: 0, perhapsRenamed: 0 }
  const pictures = bad.filter(name => formatOfName(name) !== null).length
  return { pictures, perhapsRenamed: countPerhapsRenamed(synced, mirror) }
}

function countPerhapsRenamed({ files, folders, history }: Synced, mirror: number): number {
  const paths = new Map<number, string | null>()
  const pathOfFolder = (id: number): string | null => {
    const folder = folders.byId(id)
    return folder?.mirror === mirror ? folder.path : null
  }
  let count = 0
  for (const { folder, name, image } of files.inState('hidden')) {
    if (image === null) continue
    if (!paths.has(folder)) paths.set(folder, pathOfFolder(folder))
    const above = paths.get(folder)
    if (above == null) continue
    const left = history.of({ mirror, path: pathOf(above, name) }).findLast(row => row.event === 'left_out')
    if (left?.detail && codeOf(left.detail) === 'perhaps_renamed') count++
  }
  return count
}
