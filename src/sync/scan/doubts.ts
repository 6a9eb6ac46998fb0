import type { FolderRow } from '../../synced/tables/folders.ts'
import { shellWord } from '../shell-word.ts'

/** Kinds of doubt about a folder below a root. A person can end the first two. The others end when it can be read. */
export type DoubtCode = 'FOLDER_UNMOUNTED' | 'FOLDER_EMPTIED' | 'FOLDER_UNREADABLE' | 'IGNORE_FILE_UNREADABLE'

/** A folder whose content is not known to be the truth. Nothing in it is uploaded or deleted meanwhile. */
export interface Doubt {
  folder: FolderRow
  code: DoubtCode
  why: string
}

/** Whether `albumd trust` can end it. */
export function canBeTrusted(code: string | null): boolean {
  return code === 'FOLDER_UNMOUNTED' || code === 'FOLDER_EMPTIED'
}

/** The command that ends a doubt. `folder`: absolute. */
export function trustCommand(folder: string): string {
  return `"albumd trust ${shellWord(folder)}"`
}

/** `below`: where the mount was, below the folder, or null where it was the folder itself. */
export function unmounted(folder: string, below: string | null): string {
  const what = below === null ? 'it' : `${below} in it`
  return `${what} was a mount point and is none now; mount it again, or run ${trustCommand(folder)}`
}

export function remounted(folder: string): string {
  return `another disk is mounted there than before; bring the old one back, or run ${trustCommand(folder)}`
}

export function mountedOver(folder: string): string {
  return `a disk was mounted there, and the pictures are not on it; unmount it, or run ${trustCommand(folder)}`
}

export function emptied(folder: string, pictures: number): string {
  return `all of its ${pictures} pictures are gone at once; bring them back, or run ${trustCommand(folder)}`
}
