/** Is it the same picture? What the host delivers, compared with what was sent, and what that shows of the host. */
export { type Comparison, compareDelivered, delivers } from './compare.ts'
export {
  dataToRecord,
  deliveryOf,
  isAltered,
  isAltering,
  learnAgain,
  learnFirst,
  learnFromOthers,
  mayHaveSent,
} from './learned.ts'
export { type KnownPicture, pictureOf, sentFor } from './look.ts'
