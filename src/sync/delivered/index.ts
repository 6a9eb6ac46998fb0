/** Is it the same picture? What the host delivers, compared with what was sent, and what that shows of the host. */
export {
  type Comparison,
  compareDelivered,
  learnAgain,
  learnFrom,
  learnFromOthers,
  mayBeAltered,
} from './compare.ts'
export { dataToRecord, deliveryOf, isAltered, isAltering, mayHaveSent } from './learned.ts'
export { delivers, knownOf, pictureOf, sentFor } from './look.ts'
