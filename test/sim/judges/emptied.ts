import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import { isIgnored } from '../disk/live-pictures.ts'
import { type FileNode, split } from '../disk/tree.ts'
import { rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'

/** A folder that loses so many pictures with an image at once, and all its others, is in doubt. */
export const MANY = 20

interface Loss {
  /** The moment of the disk. */
  since: number
  /** By path, the bytes of those that had an image. */
  lost: ReadonlyMap<string, string>
}

type Surroundings = Pick<World, 'disk' | 'looks' | 'doubts' | 'mirrors' | 'state'>

/** Folders that have lost all their many pictures at once, as long as nothing else has happened there. */
export class Emptied {
  readonly #world: Surroundings
  readonly #losses = new Map<string, Loss>()

  constructor(world: Surroundings) {
    this.#world = world
  }

  /** Does what empties the folder. */
  empty(folder: string, change: () => void): void {
    const lost = this.#withImage(folder)
    change()
    this.#losses.set(folder, { since: this.#world.disk.happens(), lost })
  }

  /** A person says of a place and what is below that it is as it should be; or all of it is forgotten (''). */
  forget(place: string): void {
    for (const folder of this.#losses.keys())
      if (`${folder}/`.startsWith(`${place}/`)) this.#losses.delete(folder)
  }

  /** Why nothing of a mirror may be deleted, as far as the engine has looked since: or null. */
  doubtAbout(mirror: MirrorPolicy): string | null {
    const { disk, looks, doubts } = this.#world
    for (const [folder, { since, lost }] of this.#losses) {
      if (!`${folder}/`.startsWith(`${mirror.folder}/`) || looks.readAt(folder) < since) continue
      // The names in a root are read before each deletion; that is no look at it.
      if (folder === mirror.folder && since > doubts.pass) continue
      if (disk.changedIn(folder) > since || isIgnored(disk, [mirror], folder)) continue
      const count = [...lost].filter(([path, hash]) => this.#isMissed(path, hash)).length
      if (count >= MANY) return `${folder} has lost all its ${count} pictures`
    }
    return null
  }

  /** It has an image, and may not have moved elsewhere. */
  #isMissed(path: string, hash: string): boolean {
    const { disk, mirrors, state } = this.#world
    const row = rowAt(state.synced, mirrors, path)
    if (!row || row.image === null || row.state === 'kept') return false
    const { folder } = split(path)
    return ![...disk.paths()].some(other => split(other).folder !== folder && disk.everHeld(other, hash))
  }

  #withImage(folder: string): Map<string, string> {
    const { disk, mirrors, state } = this.#world
    const elsewhere = new Set<string>()
    for (const [path, node] of mirrors.flatMap(mirror => [...disk.below(mirror.folder)]))
      if (node.kind === 'file' && split(path).folder !== folder) elsewhere.add(looksOf(node))
    const lost = new Map<string, string>()
    for (const [path, node] of disk.below(folder)) {
      if (node.kind !== 'file' || split(path).folder !== folder || elsewhere.has(looksOf(node))) continue
      const row = rowAt(state.synced, mirrors, path)
      if (row && row.image !== null && row.state !== 'gone' && row.state !== 'kept') lost.set(path, node.hash)
    }
    return lost
  }
}

/** By these a moved picture is known. */
function looksOf({ bytes, mtime }: FileNode): string {
  return `${bytes.length} ${mtime}`
}
