/** Brings pictures to the host: queue, two-step upload, adoption of images, and recovery of uploads in doubt. */

export { type Verified, verifyLink, verifyLinks } from './adoption.ts'
export { askFormatsAgain, forgetRefusals, refusals } from './breaker.ts'
export { IncompletePictures } from './incomplete-pictures.ts'
export { RecoveryPace, recoverUploads } from './recovery.ts'
export { quotaIsUsedUp, uploadPending } from './upload-queue.ts'
