/** What happens next with a path, an image or a mirror, when, and why: as reason codes, from the records. */
export type { LeftOutWhy, MirrorLocation, RuleInFile } from './on-disk.ts'
export { mirrorOutlook, outlook, type PathState, wasFolder, whyPending } from './outlook.ts'
export { contentStep, type OutlookContext, type Step } from './steps.ts'
