import type { Session } from '../daemon/commands/queue.ts'
import type { MirrorStatus } from '../daemon/report/mirror-status.ts'
import type { Millis } from '../protocol/clock.ts'
import { fullPath } from '../sync/tree-path.ts'

/** Images that a person may decide about together: those of a folder and of the folders in it. */
export interface ToDecide {
  /** The absolute path. */
  folder: string
  /** The ids of the images, in the order of their paths. */
  images: number[]
  /** How many of `images` wait for a person. The others are deleted by themselves. */
  held: number
  /** How many of `images` are of pictures that are gone. The others are replaced versions, or hidden by a rule. */
  gone: number
  since: Millis
  /** When the last of those that wait for no person is deleted: ISO 8601. Null: nobody knows, or all are held. */
  until: string | null
  /** The first images. */
  shown: { image: number; name: string }[]
}

/** When more folders than this are concerned, the mirror is decided about as a whole. */
const FOLDERS = 12
/** How many images of a folder the page shows. */
const SHOWN = 48

/** What waits because so much is to be deleted, by folder. What waits for a person comes first, then what is deleted soonest. */
export function readToDecide({ synced }: Session, mirrors: readonly MirrorStatus[]): ToDecide[] {
  const groups = mirrors.flatMap(({ folder: root, many }) => {
    const id = synced.mirrors.of(root)?.id
    const rows = id === undefined ? [] : synced.escrow.toDecideIn(id)
    const tops: string[] = []
    // A folder comes before the folders in it.
    for (const { folder } of rows) if (!folder.startsWith(tops.at(-1) ?? '\0')) tops.push(folder)
    return (tops.length > FOLDERS ? [''] : tops).map((top): ToDecide => {
      const below = rows.filter(({ folder }) => folder.startsWith(top))
      const sum = (of: 'held' | 'gone' | 'deletions') => below.reduce((total, row) => total + row[of], 0)
      const images = below.flatMap(row => row.images.split(',').map(Number))
      const shown = images.slice(0, SHOWN).map(image => ({ image, name: synced.images.byId(image)!.name }))
      return {
        folder: fullPath(root, top.slice(0, -1)),
        images,
        held: sum('held'),
        gone: sum('gone'),
        since: Math.min(...below.map(({ since }) => since)),
        until: sum('held') < images.length ? (many?.until ?? null) : null,
        shown,
      }
    })
  })
  return groups.sort(
    (one, other) =>
      Number(other.held > 0) - Number(one.held > 0) || (one.until ?? '~').localeCompare(other.until ?? '~'),
  )
}
