import { RESTORE_FOLDER } from '../../../src/local/look.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import type { Looks } from '../disk/disk-port.ts'
import { IGNORE_FILE, isIgnored } from '../disk/live-pictures.ts'
import { split, upwards } from '../disk/tree.ts'
import type { VirtualDisk } from '../disk/virtual-disk.ts'

/** What is wrong with roots and folders, and since which moment of the disk. */
export interface Doubts {
  /** Roots that are gone, empty or another folder. */
  otherRoot: Map<string, number>
  /** Roots of which a person said that they are as they should be. */
  trusted: Set<string>
  /** Folders that were mount points when albumd last looked, and are none. */
  lostMount: Map<string, number>
  /** Folders whose ignore file albumd knew, and that have none any more. */
  ignoreGone: Map<string, number>
  /** Why nothing of a mirror may be deleted because of a folder of it that has lost all its pictures, or null. */
  emptied: (mirror: MirrorPolicy) => string | null
  /** Whether a mirror has records of pictures: one without takes any root for its own. */
  heldPictures: (folder: string) => boolean
  /** Whether it has pictures that it has not found gone: emptied while it was looked at, it may be empty. */
  holdsPictures: (folder: string) => boolean
  /** When the pass began: the moment of the disk, and true time. */
  pass: number
  passAt: number
}

/** Why nothing of a mirror may be deleted, as far as the engine has looked since: or null. */
export function doubtAbout(
  disk: VirtualDisk,
  looks: Looks,
  doubts: Doubts,
  mirror: MirrorPolicy,
): string | null {
  const { folder } = mirror
  const root = doubtAboutRoot(disk, looks, doubts, mirror)
  if (root !== null) return root
  for (const [path, since] of doubts.lostMount)
    if (path.startsWith(`${folder}/`) && looks.readAt(path) > since && !isIgnored(disk, [mirror], path))
      return `${path} is no mount point any more`
  return doubts.emptied(mirror) ?? unreadable(disk, looks, mirror) ?? notLookedAt(disk, looks, doubts, folder)
}

/** The same of its root alone. */
export function doubtAboutRoot(
  disk: VirtualDisk,
  looks: Looks,
  { otherRoot, trusted, holdsPictures }: Doubts,
  { folder }: MirrorPolicy,
): string | null {
  const other = otherRoot.get(folder)
  if (other !== undefined && looks.statedAt(folder) > other) return `${folder} is not the root that it was`
  const emptied = isEmpty(disk, folder) && looks.readAt(folder) > disk.changedIn(folder)
  return emptied && !trusted.has(folder) && holdsPictures(folder) ? `${folder} is empty` : null
}

export function isEmpty(disk: VirtualDisk, root: string): boolean {
  const node = disk.find(root)?.node
  return node?.kind === 'folder' && [...node.children.keys()].every(name => name.startsWith('.'))
}

function unreadable(disk: VirtualDisk, looks: Looks, mirror: MirrorPolicy): string | null {
  for (const folder of foldersOf(disk, mirror.folder)) {
    if (isIgnored(disk, [mirror], folder) || mayBeIgnored(disk, looks, folder)) continue
    if (disk.find(folder)!.node.readable === false && looks.readAt(folder) > disk.changedAt(folder))
      return `${folder} can't be read`
    const rules = `${folder}/${IGNORE_FILE}`
    const node = disk.find(rules)?.node
    if (node && (!node.readable || node.kind !== 'file') && looks.readAt(rules) > disk.changedAt(rules))
      return `${rules} can't be read`
  }
  return null
}

/** The rules above have changed since the engine read them: by these it may be left out. */
function mayBeIgnored(disk: VirtualDisk, looks: Looks, folder: string): boolean {
  return [...upwards(split(folder).folder)].some(above => {
    const rules = `${above}/${IGNORE_FILE}`
    const read = looks.readAt(rules)
    return read > 0 && disk.changedAt(rules) > read
  })
}

/** A pass that deletes has looked at every folder that was there before it. */
function notLookedAt(disk: VirtualDisk, looks: Looks, { pass }: Doubts, root: string): string | null {
  const folders = [...foldersOf(disk, root)]
  // What is ignored, or was when the pass began, is not looked at.
  const rules = folders.map(folder => `${folder}/${IGNORE_FILE}`)
  if (rules.some(file => disk.find(file) || disk.changedAt(file) > pass)) return null
  for (const folder of folders)
    if (disk.changedAt(folder) < pass && looks.readAt(folder) < pass) return `${folder} was not looked at`
  return null
}

function* foldersOf(disk: VirtualDisk, root: string): Generator<string> {
  const node = disk.find(root)?.node
  if (node?.kind !== 'folder') return
  yield root
  if (!node.readable) return
  for (const name of node.children.keys())
    if (name !== RESTORE_FOLDER) yield* foldersOf(disk, `${root}/${name}`)
}
