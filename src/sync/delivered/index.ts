/** Is it the same picture? Compares what the host delivers with what was sent, and learns how the host delivers. */
export {
  type Comparison,
  compareDelivered,
  learnAgain,
  learnFrom,
  learnFromOthers,
  lookAtFile,
  mayBeAltered,
} from './compare.ts'
export {
  dataToRecord,
  deliveryOf,
  isAltered,
  isAltering,
  isIt,
  isLess,
  isSame,
  mayHaveSent,
  readData,
} from './learned.ts'
export { delivers, type KnownPicture, knownOf, lookAt, pictureOf, sentFor } from './look.ts'
