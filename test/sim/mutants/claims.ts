import { inLua, nothing } from './by.ts'
import type { Mutant } from './mutant.ts'

/** What keeps two machines with one account from each other's pictures. */
export const CLAIMS: readonly Mutant[] = [
  {
    name: 'a deletion asks for no claim',
    why: 'a machine deletes although another may have its album by now',
    seed: 500_000_046,
    instead: { 'shared/claims.ts': { 'AlbumClaims.doubt': nothing } },
  },
  {
    name: 'an album is taken from a machine that works',
    why: 'both machines delete there, until the first one hears of the other',
    seed: 500_000_019,
    instead: { 'shared/claim-scripts.ts': { CLAIM: inLua('is_alive', '0') } },
  },
  {
    name: 'an album that both need is created by both',
    why: 'the host has the album twice',
    seed: 500_000_046,
    instead: {
      'shared/claims.ts': {
        'AlbumClaims.beginAlbum': () => async () => ({ kind: 'create', mayGo: () => true, async ended() {} }),
      },
    },
  },
  {
    name: 'a lease does not end',
    why: "a machine that can't reach the store deletes in an album that another has by now",
    seed: 500_000_227,
    instead: { 'shared/claims.ts': { MARGIN_MS: () => Number.NEGATIVE_INFINITY } },
  },
  {
    name: 'an emptied store gives albums at once',
    why: 'a machine is given an album before its owner has brought the claim back',
    seed: 500_000_093,
    instead: { 'shared/claim-scripts.ts': { CLAIM: inLua('all_are_back', '0') } },
  },
  {
    name: 'an image that was found by its bytes is its own',
    why: 'in an album that both need, a machine deletes the image of the other',
    seed: 1_000_000_501,
    instead: { 'sync/deletions/send-delete.ts': { 'QUESTIONS.isPerhapsAnothers': nothing } },
  },
]
