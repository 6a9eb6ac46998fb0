/**
 * What happens next with a path, an image or a mirror, when, and why. The answers are reason codes, made from the records.
 */
export { deletionWaits, waitsForPerson } from './deletion-steps.ts'
export { type GoneFolder, wasFolder } from './gone-folder.ts'
export { mirrorOutlook, type Outlook, outlook } from './outlook.ts'
export { type PathState, shownState } from './path-state.ts'
export {
  contentStep,
  type OutlookContext,
  type Step,
  step,
} from './steps.ts'
