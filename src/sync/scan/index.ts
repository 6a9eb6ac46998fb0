/** What is on the disk, and what is in doubt. */
export { isAnotherDisk, isMount, VanishedRules } from './doubts.ts'
export { checkRootsAgain, type ScannedMirror, scanEverythingAgain, scanMirrors } from './mirror-scans.ts'
export {
  HOST_TAKES,
  type LeftOutWhy,
  leftOutBelow,
  lookAt,
  type MirrorLocation,
  type OnDisk,
  type RuleInFile,
} from './on-disk.ts'
export {
  checkRoot,
  doubtOfRoot,
  isSameRoot,
  missingPictures,
  recordMove,
  recordTrust,
  type Trust,
  trustIn,
  whetherThere,
  whyNotMovedTo,
} from './trust.ts'
