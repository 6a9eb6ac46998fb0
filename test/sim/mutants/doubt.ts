import type { Mutant } from './mutant.ts'

/** What keeps a picture from being sent twice. */
export const DOUBT: readonly Mutant[] = [
  {
    name: 'no journal',
    edits: [
      {
        file: 'sync/uploads/recovery.ts',
        find: 'const open = synced.journal.openUploads()\n',
        replace:
          'const open: OpenUpload[] = []\n  for (const { id } of synced.journal.openUploads()) synced.commitNow(tx => tx.journal.close(id))\n',
      },
    ],
    why: 'an upload that was cut off is sent again, blindly',
    seed: 69,
  },
  {
    name: 'blind resend',
    edits: [
      {
        file: 'sync/uploads/sender.ts',
        find: "if (sent.ok || sent.failure.remedy !== 'find_out') tx.journal.close(intent)",
        replace: 'tx.journal.close(intent)',
      },
      {
        file: 'sync/uploads/sender.ts',
        find: "last.remedy !== 'new_credential') return refused(last)",
        replace: "(last.remedy !== 'new_credential' && last.remedy !== 'find_out')) return refused(last)",
      },
    ],
    why: 'an upload whose answer was lost is sent again at once',
    seed: 44,
  },
  {
    name: 'resend before the end of the credential',
    edits: [
      {
        file: 'sync/clock.ts',
        find: 'return credentialLifetimeMs * 1.2 + 1000',
        replace: 'return credentialLifetimeMs * 0',
      },
    ],
    why: 'an upload that is served late arrives beside the second one',
    seed: 63,
  },
  {
    name: 'one walk for two',
    edits: [
      {
        file: 'sync/uploads/album-recovery.ts',
        find: 'if (!looked.missed.has(intent.id)) return',
        replace: 'if (looked.missed.has(intent.id)) return',
      },
    ],
    why: 'a walk misses what moves from page to page while others change the album',
    seed: 1_000_000_002,
  },
  {
    name: 'recovery believes two walks with another between them',
    edits: [
      {
        file: 'sync/uploads/album-recovery.ts',
        find: 'if (!atOnce) forget(before)',
        replace: 'if (before === null) forget(before)',
      },
    ],
    why: 'both may be of those that lack it',
    seed: 1_000_000_161,
  },
  {
    name: 'half a listing is a whole one',
    edits: [
      {
        file: 'sync/listing/walk.ts',
        find: 'const complete = images.size === total_images && atFirst === total_images',
        replace: 'const complete = images.size >= 0 && atFirst !== null',
      },
    ],
    why: 'what a torn walk does not show is sent again',
    seed: 13_007,
  },
  {
    name: 'an album that is there already is not used',
    edits: [
      {
        file: 'sync/albums/album-tree.ts',
        find: 'const found = choose(listed.value, recorded?.blind ? undefined : recorded?.remote_id)',
        replace: 'const found = listed.value.find(({ id }) => id === recorded?.remote_id)',
      },
    ],
    why: "another person's album gets a twin",
    seed: 142,
  },
  {
    name: 'an album that was made where nobody could look is the only one of its name',
    edits: [{ file: 'sync/albums/album-tree.ts', find: "blind ? 'made blind' : 'made'", replace: "'made'" }],
    why: 'what lies in the one that was there before is sent again',
    seed: 27017557,
  },
  {
    name: 'an album is made again at once',
    edits: [
      {
        file: 'sync/albums/album-tree.ts',
        find: "if (created.failure.remedy !== 'find_out') await commit(tx => tx.journal.close(intent))",
        replace: 'await commit(tx => tx.journal.close(intent))',
      },
    ],
    why: 'an album whose answer was lost gets a twin',
    seed: 535,
  },
  {
    name: 'the second answer is believed for the first',
    edits: [
      {
        file: 'remote/failures.ts',
        find: 'if (mayBeDone) return false',
        replace: 'if (mayBeDone) void 0',
      },
    ],
    why: 'a deletion whose answer was lost counts as not done when its repetition is refused',
    seed: 1_000_000_003,
  },
  {
    name: 'adopt by name alone',
    edits: [
      {
        file: 'sync/listing/evidence.ts',
        find: 'return dimensionsFit(listed, picture) && (listed.size === undefined || sizeFits(listed.size, picture.size))',
        replace: 'return dimensionsFit({ id: listed.id }, picture) && sizeFits("", picture.size)',
      },
    ],
    why: 'a picture is taken for an image of other dimensions',
    seed: 77,
  },
  {
    name: 'albums are not looked into before the first upload',
    edits: [
      {
        file: 'sync/uploads/upload.ts',
        find: 'const looked = await contents.lookAt(this.#run, album, signal)',
        replace: 'const looked = { ok: true } as Awaited<ReturnType<typeof contents.lookAt>>',
      },
    ],
    why: 'a lost state sends everything again',
    seed: 1,
  },
  {
    name: 'what a lost state had sent is not waited for',
    edits: [
      {
        file: 'sync/uploads/upload.ts',
        find: 'if (lostAt(this.#run.synced) !== null) return mayArrive',
        replace: 'void lostAt, mayArrive',
      },
    ],
    why: 'a picture whose upload arrives late is sent twice',
    seed: 77,
  },
]
