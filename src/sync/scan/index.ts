/** What is on the disk, and what is in doubt. */
export { FoundElsewhere } from './emptied-folders.ts'
export { checkRootsAgain, type ScannedMirror, scanEverythingAgain, scanMirrors } from './mirror-scans.ts'
export { isMount } from './mounts.ts'
export { checkRoot, isSameRoot, whetherThere } from './root-guard.ts'
export { missingPictures, recordTrust, type Trust, trustIn } from './trust.ts'
export { VanishedRules } from './vanished-rules.ts'
