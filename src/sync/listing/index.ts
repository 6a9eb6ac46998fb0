/** What the host shows: walks through its listings, and what the listings prove about uploads. */
export {
  AlbumContents,
  namesAreKept,
  recordAlbums,
  type UnrecordedImage,
  unrecordedIn,
} from './album-contents.ts'
export { changesOf, formsOf, type ListedForms } from './changed-name.ts'
export {
  type AddressOf,
  belowBase,
  confirmedPattern,
  deliveryAddresses,
  idIn,
  names,
  rememberingDelivery,
} from './delivery.ts'
export {
  canBe,
  dimensionsFit,
  type Evidence,
  featuresOf,
  mayBeNamed,
  mostBytes,
  sizeFits,
  sizeProves,
  weighEvidence,
} from './evidence.ts'
export {
  AlbumListings,
  plainName,
  showsItsOwn,
  tellingLostAlbums,
  unlistedIn,
  type Walk,
  type WholeWalk,
  walkEverything,
  walkWhole,
} from './walk.ts'
