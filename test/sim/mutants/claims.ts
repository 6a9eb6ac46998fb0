import { inLua, nothing } from './by.ts'
import type { Row } from './mutant.ts'

/** What keeps two machines with one account from each other's pictures. */
// biome-ignore format: a mutant is a row.
export const CLAIMS: readonly Row[] = [
  [500_000_046, 'a deletion asks for no claim', 'a machine deletes although another may have its album by now',
    { 'shared/claims.ts': { 'AlbumClaims.doubt': nothing } }],
  [500_000_019, 'an album is taken from a machine that works',
    'both machines delete there, until the first one hears of the other',
    { 'shared/claim-scripts.ts': { CLAIM: inLua('is_alive', '0') } }],
  [500_000_046, 'an album that both need is created by both', 'the host has the album twice',
    { 'shared/claims.ts': {
      'AlbumClaims.beginAlbum': () => async () => ({ kind: 'create', mayGo: () => true, async ended() {} }),
    } }],
  [500_000_227, 'a lease does not end',
    "a machine that can't reach the store deletes in an album that another has by now",
    { 'shared/claims.ts': { MARGIN_MS: () => Number.NEGATIVE_INFINITY } }],
  [500_000_093, 'an emptied store gives albums at once',
    'a machine is given an album before its owner has brought the claim back',
    { 'shared/claim-scripts.ts': { CLAIM: inLua('all_are_back', '0') } }],
  [1_000_000_504, 'a store that was put back is believed',
    'an album that was given away goes back to the machine that had it before',
    { 'shared/claim-scripts.ts': { CLAIM: inLua('is_older', 'false') } }],
  [1_000_000_504, 'a store that was started again is believed',
    'two machines delete in an album whose last claim the store has forgotten',
    { 'shared/claim-scripts.ts': { CLAIM: inLua('was_started_again', 'false') } }],
  [500_000_006, 'a copy of a machine works beside it', 'each deletes what the other still has',
    { 'shared/claim-scripts.ts': { CLAIM: inLua('is_copied', 'false') } }],
  [1_000_000_501, 'an image that was found by its bytes is its own',
    'in an album that both need, a machine deletes the image of the other',
    { 'sync/deletions/send-delete.ts': { 'QUESTIONS.isPerhapsAnothers': nothing } }],
]
