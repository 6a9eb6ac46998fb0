/** Deletes what nothing needs any more: the hold, the last check, and the one place that sends a DELETE. */
export { deleteDueImages } from './delete-due.ts'
export { doubtAbout, forgetOldDeletions, type HoldPolicy, weighDeletions } from './hold.ts'
export { askToDeleteNothing, type Deletion, sendDelete, whyImageStays } from './send-delete.ts'
export { deleteUnusedAlbums, recoverAlbumDeletions } from './unused-albums.ts'
