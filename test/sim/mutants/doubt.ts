import type { ImageHost } from '../../../src/remote/host.ts'
import { always, but, idle, never, nothing } from './by.ts'
import type { Mutant } from './mutant.ts'

/** What keeps a picture from being sent twice. */
export const DOUBT: readonly Mutant[] = [
  {
    name: 'NOT_FOUND alone tells that an album is lost',
    why: 'pictures of an album that somebody deleted fail for ever where the host says FORBIDDEN',
    seed: 300_000_054,
    instead: { 'sync/listing/walk.ts': { mayMeanLost: never } },
  },
  {
    name: 'FORBIDDEN ends uploads where an album is too deep',
    why: 'no other picture is sent either',
    seed: 300_000_053,
    instead: {
      'sync/albums/album-tree.ts': {
        cannotBeMade: original => (failure, parent) =>
          original(failure, parent) && !(parent && failure.remedy === 'not_permitted'),
      },
    },
  },
  {
    name: 'NOT_FOUND in the root is asked about a parent',
    why: 'the pictures wait for ever where a name is taken and nobody can look',
    seed: 1_000_000_050,
    instead: {
      'sync/albums/album-tree.ts': {
        cannotBeMade: original => (failure, parent) =>
          original(failure, parent) && (parent || failure.remedy !== 'gone'),
      },
    },
  },
  {
    name: 'NOT_FOUND ends uploads where an album is too deep',
    why: 'no other picture is sent either',
    seed: 300_000_058,
    instead: {
      'sync/albums/album-doubts.ts': {
        albumClosed: idle,
        'AlbumDoubts.isGone': original => async (album, failure, signal) => {
          const gone = await original(album, failure, signal)
          return gone.ok && !gone.value ? { ok: false, failure } : gone
        },
      },
    },
  },
  {
    name: 'NOT_FOUND proves that an album is gone where nobody can look',
    why: 'an album that is too deep for others gets a twin in each pass',
    seed: 1_000_000_023,
    instead: {
      'sync/albums/album-doubts.ts': {
        'AlbumDoubts.#isListed':
          original =>
          async (...args) => {
            const listed = await original(...args)
            return listed.ok ? { ok: true, value: listed.value ?? false } : listed
          },
      },
    },
  },
  {
    name: 'no journal',
    why: 'an upload that was cut off is sent again, blindly',
    seed: 69,
    instead: {
      'sync/uploads/recovery.ts': {
        settleJournal:
          original =>
          (context, ...rest) => {
            const { journal, commitNow } = context.synced
            for (const { id } of journal.openUploads())
              commitNow((tx: typeof context.synced) => tx.journal.close(id))
            return original(context, ...rest)
          },
      },
    },
  },
  {
    name: 'blind resend',
    why: 'an upload whose answer was lost is sent again at once',
    seed: 44,
    instead: {
      'sync/uploads/sender.ts': {
        keepingPromise:
          original =>
          (...args) => {
            const sent = original(...args)
            return sent.failure?.remedy === 'find_out' ? but(sent, 'failure.remedy', 'new_credential') : sent
          },
      },
    },
  },
  {
    name: 'resend before the end of the credential',
    why: 'an upload that is served late arrives beside the second one',
    seed: 63,
    instead: { 'sync/clock.ts': { mayArriveFor: () => () => 0 } },
  },
  {
    name: 'one walk for two',
    why: 'a walk misses what moves from page to page while others change the album',
    seed: 1_000_000_002,
    instead: {
      'sync/uploads/album-recovery.ts': {
        act: original => (recovery, intent, evidence, looked, signal) =>
          original(recovery, intent, evidence, { ...looked, missed: new Set([intent.id]) }, signal),
      },
    },
  },
  {
    name: 'recovery believes two walks with another between them',
    why: 'both may be of those that lack it',
    seed: 1_000_000_161,
    instead: { 'sync/uploads/album-recovery.ts': { forget: idle } },
  },
  {
    name: 'half a listing is a whole one',
    why: 'what a torn walk does not show is sent again',
    seed: 13_007,
    instead: {
      'sync/listing/walk.ts': {
        walkAlbum:
          original =>
          async (...args) => {
            const walk = await original(...args)
            return walk.ok ? but(walk, 'value.complete', true) : walk
          },
      },
    },
  },
  {
    name: 'an album that is there already is not used',
    why: "another person's album gets a twin",
    seed: 142,
    instead: {
      'sync/albums/album-tree.ts': {
        choose: () => (twins, recorded) => twins.find(({ id }: { id: string }) => id === recorded),
      },
    },
  },
  {
    name: 'an album that was made where nobody could look is the only one of its name',
    why: 'what lies in the one that was there before is sent again',
    seed: 27017557,
    instead: {
      'sync/albums/album-tree.ts': {
        'AlbumTree.#record': original => (parent, name, id, how) =>
          original(parent, name, id, how === 'made blind' ? 'made' : how),
      },
    },
  },
  {
    name: 'an album is made again at once',
    why: 'an album whose answer was lost gets a twin',
    seed: 535,
    instead: {
      'sync/uploads/upload-pending.ts': {
        AlbumTree: original =>
          class extends original {
            constructor(context: { host: ImageHost }) {
              super(
                but(context, 'host.createAlbum', async (...args: Parameters<ImageHost['createAlbum']>) => {
                  const created = await context.host.createAlbum(...args)
                  return !created.ok && created.failure.remedy === 'find_out'
                    ? but(created, 'failure.remedy', 'later')
                    : created
                }),
              )
            }
          },
      },
    },
  },
  {
    name: 'the second answer is believed for the first',
    why: 'a deletion whose answer was lost counts as not done when its repetition is refused',
    seed: 1_000_000_003,
    instead: {
      'remote/failures.ts': { wasNotDone: original => failure => original({ ...failure, mayBeDone: false }) },
    },
  },
  {
    name: 'adopt by name alone',
    why: 'a picture is taken for an image of other dimensions',
    seed: 77,
    instead: { 'sync/listing/evidence.ts': { dimensionsFit: always, sizeFits: always } },
  },
  {
    name: 'albums are not looked into before the first upload',
    why: 'a lost state sends everything again',
    seed: 1,
    instead: {
      'sync/listing/album-contents.ts': { 'AlbumContents.lookAt': () => async () => ({ ok: true }) },
    },
  },
  {
    name: 'an album is not looked into again after a node refused',
    why: 'a picture that a proxy sent twice is on the host, and is sent again',
    seed: 1_000_000_048,
    instead: {
      'sync/uploads/sender.ts': {
        sendBytes:
          original =>
          (run, ...rest) =>
            original(but(run, 'contents', { forget() {} }), ...rest),
      },
    },
  },
  {
    name: 'what a lost state had sent is not waited for',
    why: 'a picture whose upload arrives late is sent twice',
    seed: 77,
    instead: { 'sync/uploads/upload.ts': { lossEndsAt: nothing } },
  },
  {
    name: 'where images are not counted rightly, one walk is enough',
    why: 'what is in doubt stays so',
    seed: 1_000_000_286,
    instead: { 'sync/listing/walk.ts': { showTheSame: never } },
  },
]
