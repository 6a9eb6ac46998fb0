/** Brings pictures to the host: queue, credential and bytes, adoption, and recovery of what was in doubt. */

export { type Verified, verifyLink, verifyLinks } from './adoption.ts'
export { askFormatsAgain, forgetRefusals, refusals } from './breaker.ts'
export { IncompletePictures } from './incomplete-pictures.ts'
export { RecoveryPace, recoverUploads } from './recovery.ts'
export { quotaIsUsedUp, uploadPending } from './upload-queue.ts'
