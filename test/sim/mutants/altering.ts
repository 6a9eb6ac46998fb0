import { always, given, idle, never, nothing, resolving, returning } from './by.ts'
import type { By, Row } from './mutant.ts'

const taking = (verdict: 'other' | 'unknown', by: object): By =>
  resolving((compared, _, image, { hash, size }) => {
    const cdnUrl = `https://cdn.example/i/${image.remote_id}`
    return compared.verdict === verdict ? { cdnUrl, bytes: { hash, size }, ...by } : compared
  })

/** What a host may make of pictures, of names and of albums, and of a format that it refuses. */
// biome-ignore format: a mutant is a row.
export const ALTERED: readonly Row[] = [
  [2_000_000_266, 'a picture that differs is the same', "another person's image of the same name counts as compared",
    { 'sync/delivered/compare.ts': { compareDelivered: taking('other', { verdict: 'equal' }) } }],
  [2_000_000_073, 'a picture of which nothing tells is the same', "another person's image of the same name counts as compared",
    { 'sync/delivered/compare.ts': { compareDelivered: taking('unknown', { verdict: 'equal' }) } }],
  [2_000_000_001, 'a picture of which nothing tells is another', 'after a lost state all is sent again to a host that encodes it anew',
    { 'sync/delivered/compare.ts': { compareDelivered: taking('unknown', { verdict: 'other' }) } }],
  [2_000_000_038, 'pixels do not count', 'after a lost state all is only linked on a host that packs it anew',
    { 'protocol/likeness/likeness.ts': { DECODED: () => new Set() } }],
  [2_000_000_003, 'an audit compares with what was sent', 'where the host lists what it delivers, all is said to be changed',
    { 'sync/audit/audit-album.ts': { isAlteredAs: never } }],
  [1_000_000_460, 'what a restore writes is not recorded', 'the next scan sends it, beside the image that it is',
    { 'records/images.ts': { given: idle } }],
  [1_000_000_470, 'a format that is refused is a failure of each picture', 'each is tried by itself, and each costs quota',
    { 'sync/uploads/breaker.ts': { 'Breaker.#typeRefused': () => async () => null } }],
  [1_000_000_470, 'a format that is refused is asked about in each pass', 'each of its pictures is sent in each pass',
    { 'sync/uploads/breaker.ts': { 'Breaker.#unlessAsking': nothing } }],
  [2_000_000_001, 'albums under names that the host changed are not looked at', 'after a lost state each gets a twin',
    { 'sync/listing/walk.ts': { changesOf: () => () => () => false } }],
  [1_000_000_472, "an album under a changed name may be another folder's", 'pictures of two folders lie in one album',
    { 'sync/albums/album-choice.ts': { 'AlbumChoice.#rivals': () => () => [] } }],
  [1_500_000_701, "an album that may be another folder's is never this one's",
    'after a lost state both folders get a twin',
    { 'sync/albums/album-choice.ts': { 'AlbumChoice.#best': returning((best, _, { name }) => best?.name === name ? best : undefined) } }],
  [1_000_000_782, 'listings alone tell which of two albums is whose', 'after a lost state the pictures of both are sent again',
    { 'sync/albums/album-choice.ts': { lookAtFile: () => async () => null } }],
  [1_000_000_780, 'it does not count in which albums pictures lie', 'after a lost state they go into albums of each other',
    { 'sync/albums/album-choice.ts': {
      imagesOf: returning(images => images.map((image: { forms: unknown[] }) => ({ ...image, forms: image.forms.slice(-1) }))),
      'AlbumChoice.#foldersAt': returning(folders =>
        folders.map((folder: { path: string[] }) => ({ ...folder, path: folder.path.slice(0, 2) }))),
    } }],
  [1_000_000_440, 'an album that answers with the root is there', 'pictures of an album that is gone lie in the root',
    { 'sync/listing/walk.ts': { showsItsOwn: always } }],
  [2_005_000_544, "an album that is refused is a picture's refusal",
    'a picture that is refused for the first time waits a week',
    { 'records/pictures.ts': { failed: given(2, 'isRefused', true) } }],
  [2_005_000_454, 'a picture that a host has turned itself is another', 'after a lost state it is sent again',
    { 'protocol/likeness/likeness.ts': { likeness: resolving(like => (like === 'turned' ? 'other' : like)) } }],
  [2_007_001_037, 'an address that was promised needs no delivery', 'the image that a picture was put into is deleted',
    { 'sync/uploads/sender.ts': { isDelivered: () => async () => true } }],
  [2_006_000_077, 'success alone shows of an upload no more than silence', 'a picture is sent again and again',
    { 'sync/uploads/album-recovery.ts': { isAcknowledged: never } }],
  [1_000_000_476, 'what the host has taken and does not show has never arrived', 'a picture is sent again and again',
    { 'sync/uploads/album-recovery.ts': { isAcknowledged: never } }],
  [1_000_000_747, 'facts beside image data do not count', 'a picture that was turned by its orientation alone is never sent',
    { 'protocol/likeness/likeness.ts': { factsFit: always } }],
  [2_999_999_002, 'other metadata are no edit where the host keeps them', 'the edit of a fact is never sent',
    { 'sync/delivered/learned.ts': { isIt: original => (synced, mime, like) => original(synced, mime, like === 'data' ? 'bare' : like) } }],
  [1_000_000_748, 'no other picture shows what the host does', 'after a lost state all is sent again to a host that encodes it anew',
    { 'sync/uploads/adoption.ts': { learnFromOthers: idle } }],
  [2_999_999_001, 'a bare picture shows that the host keeps metadata', 'after a lost state what it takes them from is sent again',
    { 'sync/delivered/look.ts': { lookAt: resolving(looked => looked.kind === 'bare' ? { ...looked, kind: 'bytes' } : looked) } }],
]
