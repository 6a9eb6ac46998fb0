import type { Mutant } from './mutant.ts'

/** What keeps two machines with one account from each other's pictures. */
export const CLAIMS: readonly Mutant[] = [
  {
    name: 'a deletion asks for no claim',
    edits: [
      {
        file: 'sync/deletions/send-delete.ts',
        find: 'const mayLeave = () => claims.doubt() === null && whyNot() === null',
        replace: 'const mayLeave = () => whyNot() === null',
      },
      {
        file: 'sync/deletions/hold.ts',
        find: 'return claims.doubt() ?? doubtAbout(synced, policies)',
        replace: 'return doubtAbout(synced, policies)',
      },
    ],
    why: 'a machine deletes although another may have its album by now',
    seed: 500_000_046,
  },
  {
    name: 'an album is taken from a machine that works',
    file: 'shared/claim-scripts.ts',
    find: "if take == '0' or told[5] == 1 then return told end",
    replace: "if take == '0' then return told end",
    why: 'both machines delete there, until the first one hears of the other',
    seed: 500_000_019,
  },
  {
    name: 'an album that both need is created by both',
    file: 'shared/claim-scripts.ts',
    find: 'if there and there ~= ARGV[1] then return there end',
    replace: 'if there and there == ARGV[3] then return there end',
    why: 'the host has the album twice',
    seed: 500_000_046,
  },
  {
    name: 'a lease does not end',
    file: 'shared/claims.ts',
    find: 'return passed > fromMs && passed < LEASE_MS - MARGIN_MS ? null : IN_DOUBT',
    replace: 'return passed > fromMs ? null : IN_DOUBT',
    why: "a machine that can't reach the store deletes in an album that another has by now",
    seed: 500_000_138,
  },
  {
    name: 'an emptied store gives albums at once',
    file: 'shared/claim-scripts.ts',
    find: "if wait > 0 then return {'new', wait} end",
    replace: "if wait < 0 then return {'new', wait} end",
    why: 'a machine is given an album before its owner has brought the claim back',
    seed: 500_000_093,
  },
  {
    name: 'an image that was found by its bytes is its own',
    file: 'sync/deletions/send-delete.ts',
    find: 'claims.isOwn(albumName(synced, album))',
    replace: 'albumName(synced, album) !== null',
    why: 'in an album that both need, a machine deletes the image of the other',
    seed: 1_000_000_501,
  },
]
