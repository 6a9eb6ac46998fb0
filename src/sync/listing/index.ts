/** What the host shows: walks through its listings, and what they are evidence for. */
export {
  AlbumContents,
  namesAreKept,
  recordAlbums,
  type UnrecordedImage,
  unrecordedIn,
} from './album-contents.ts'
export { AlbumListings } from './album-listings.ts'
export { type Comparison, compareBytes, delivers } from './compare-bytes.ts'
export {
  type AddressOf,
  belowBase,
  confirmedPattern,
  deliveryAddresses,
  rememberingDelivery,
} from './delivery.ts'
export { canBe, dimensionsFit, type Evidence, mostBytes, sizeFits, weighEvidence } from './evidence.ts'
export { ListedIds, type PlacedWalk, walkEverything, walkWhole } from './walk.ts'
