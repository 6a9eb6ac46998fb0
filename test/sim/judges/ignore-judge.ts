import type { Looks } from '../disk/disk-port.ts'
import { IGNORE_FILE } from '../disk/live-pictures.ts'
import { split, upwards } from '../disk/tree.ts'
import type { VirtualDisk } from '../disk/virtual-disk.ts'
import type { Doubts } from './doubts.ts'

/** Why a picture must not be sent, as far as the engine knew, or null: its ignore file is unreadable or just vanished. */
export function whatMayHide(
  disk: VirtualDisk,
  looks: Looks,
  { ignoreGone, pass }: Doubts,
  { path, openedAt }: { path: string; openedAt: number },
): string | null {
  for (const folder of upwards(split(path).folder)) {
    const rules = `${folder}/${IGNORE_FILE}`
    const node = disk.find(rules)?.node
    const read = looks.readAt(rules)
    if (node && (!node.readable || node.kind !== 'file') && read > disk.changedAt(rules) && openedAt > read)
      return `${rules} can't be read`
    const gone = ignoreGone.get(folder)
    if (gone === undefined || node) continue
    // The names in a root are also read without a look at it.
    const met = gone > pass && split(folder).folder === '' ? looks.readAt(rules) : metAt(looks, folder)
    if (met > gone && openedAt > met) return `${rules} has just vanished`
  }
  return null
}

/** A pass has ended: what it may have found gone, alone or with its folder, may be believed by the next look. */
export function believeGone({ ignoreGone }: Doubts, looks: Looks): void {
  for (const [folder, since] of ignoreGone)
    if (Math.max(metAt(looks, folder), looks.missedAt(folder)) > since) ignoreGone.delete(folder)
}

function metAt(looks: Looks, folder: string): number {
  return Math.max(looks.readAt(folder), looks.readAt(`${folder}/${IGNORE_FILE}`))
}
