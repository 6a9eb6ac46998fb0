import type { FolderRow } from '../../synced/tables/folders.ts'
import type { Reason } from '../../words/reasons.ts'

/** Kinds of doubt about a folder below a root. A person can end the first two by `albumd trust`. */
export type DoubtCode = 'FOLDER_UNMOUNTED' | 'FOLDER_EMPTIED' | 'FOLDER_UNREADABLE' | 'IGNORE_FILE_UNREADABLE'

/** A folder whose content is not known to be the truth. Nothing in it is uploaded or deleted meanwhile. */
export interface Doubt {
  folder: FolderRow
  code: DoubtCode
  why: Reason
}

/** Whether `albumd trust` can end a doubt of this kind. */
export function canBeTrusted(code: string | null): boolean {
  return code === 'FOLDER_UNMOUNTED' || code === 'FOLDER_EMPTIED'
}
