import type { Mutant } from './mutant.ts'

/** What audits, and a person's word, rely on. */
export const CHECKING: readonly Mutant[] = [
  {
    name: "a person's wish outlives the state that knew of it",
    file: 'sync/clock.ts',
    find: 'tx.resend.forget()',
    replace: 'void tx.resend',
    why: 'what was sent again on a word is sent once more after an older state was put back',
    seed: 1_000_000_037,
  },
  {
    name: "a repair deletes another person's twin",
    file: 'sync/audit/audit-repair.ts',
    find: 'return shown ? isLeftOver(synced, shown) : synced.deleted.at(remote_id) !== undefined',
    replace: 'return true',
    why: "another person's image that looks like one of ours goes",
    seed: 1_000_000_102,
  },
  {
    name: 'a repair puts nothing back',
    file: 'sync/audit/audit-repair.ts',
    find: 'if (image) lost(tx, image, context.clock.wall())',
    replace: 'if (image) void lost',
    why: 'what another person deleted stays away',
    seed: 1_000_000_101,
  },
  {
    name: 'a repair believes one walk',
    edits: [
      {
        file: 'sync/audit/audit-repair.ts',
        find: 'if (lacked && look.atOnce) return',
        replace: 'if (look) return',
      },
      { file: 'sync/audit/audit-repair.ts', find: 'lacked.has(id)', replace: '!lacked?.has(-id)' },
      {
        file: 'sync/audit/audit-repair.ts',
        find: '!listed?.has(remote_id)',
        replace: 'listed !== undefined && remote_id !== null',
      },
    ],
    why: 'what every other walk lacks is sent again',
    seed: 1_000_000_124,
  },
  {
    name: 'an audit tells the age of an image by the wall clock alone',
    file: 'sync/audit/audit.ts',
    find: 'ages.since(recorded_at * 1000, clock)',
    replace: 'Math.abs(clock.wall() - recorded_at + ages.since(0, clock) * 0)',
    why: 'what a host lists late is sent again once a clock was set forward',
    seed: 23018350,
  },
  {
    name: 'a repair believes listings about young images without an address',
    file: 'sync/audit/audit.ts',
    find: 'image.cdn_url === null ? youngFor(context, image) : 0',
    replace: "image.cdn_url === '' ? youngFor(context, image) : 0",
    why: 'what a host lists late, and tells no address for, is sent again',
    seed: 300_000_756,
  },
  {
    name: 'a repair deletes while a mirror is in doubt',
    file: 'daemon/commands/audit.ts',
    find: 'inDoubt || !mayGo()',
    replace: '!mayGo()',
    why: 'a picture may be where nobody can look',
    seed: 1_000_000_104,
  },
  {
    name: 'a repair deletes however many there are',
    file: 'sync/audit/audit-repair.ts',
    find: 'if (ours.length > most)',
    replace: 'if (ours.length > most * Number.MAX_SAFE_INTEGER)',
    why: 'a host that is back from a backup loses all that it has again',
    seed: 1_000_000_105,
  },
  {
    name: 'a repair goes on when a person pauses albumd',
    file: 'daemon/commands/audit.ts',
    find: 'const mayGo = () => pauseAt(synced, context.clock.wall()) === null',
    replace: 'const mayGo = () => pauseAt(synced, context.clock.wall()) !== undefined',
    why: 'images go while nothing is to be deleted',
    seed: 1_000_000_106,
  },
  {
    name: 'an audit looks for uploads without an album in the root alone',
    edits: [
      {
        file: 'sync/audit/audit.ts',
        find: "context.synced.meta.get('default_album') !== ''",
        replace: "context.synced.meta.get('default_album') === ''",
      },
      {
        file: 'sync/audit/audit-repair.ts',
        find: '!listed?.has(remote_id)',
        replace: 'listed !== undefined && remote_id !== null',
      },
      // Otherwise the next upload into the album would find its image there.
      { file: 'sync/audit/audit-repair.ts', find: 'context.contents.forget(album)', replace: '' },
    ],
    why: 'what lies in the default album is said to be gone, and sent again',
    seed: 1_000_000_108,
  },
  {
    name: 'an audit takes any walk for a whole one',
    edits: [
      {
        file: 'sync/audit/audit.ts',
        find: ", walkWhole } from '../listing/index.ts'",
        replace: " } from '../listing/index.ts'\nimport { walkAlbum as walkWhole } from '../listing/walk.ts'",
      },
      {
        file: 'sync/audit/audit.ts',
        find: 'return complete || showsRecorded ? {',
        replace: 'return complete !== undefined ? {',
      },
    ],
    why: 'what a torn walk does not show is said to be gone',
    seed: 1_000_000_109,
  },
  {
    name: 'an audit does not know what albumd deleted',
    file: 'sync/audit/audit-album.ts',
    find: 'wasDeleted: (listed: ListedImage) => isLeftOver(synced, listed)',
    replace: 'wasDeleted: () => false',
    why: "what the host kept is taken for another person's",
    seed: 1_000_000_103,
  },
  {
    name: 'what is not in doubt is sent again',
    edits: [
      {
        file: 'daemon/commands/sync.ts',
        find: "const files = [...synced.files.inState('uncertain'), ...synced.files.inState('failed')]",
        replace: "const files = [...synced.files.inState('uncertain'), ...synced.files.inState('pending')]",
      },
      {
        file: 'daemon/commands/sync.ts',
        find: "file => file.state === 'uncertain' || DOUBTFUL",
        replace: "file => file.state !== 'failed' || DOUBTFUL",
      },
      {
        file: 'records/file-states.ts',
        find: "resent: { pending: ['uncertain',",
        replace: "resent: { pending: ['pending', 'uncertain',",
      },
    ],
    why: 'what the host has already is sent beside it',
    seed: 1_000_000_111,
  },
  {
    name: "a person's word leaves the doubt open",
    file: 'records/pictures.ts',
    find: 'for (const intent of tx.journal.openOnFile(file)) tx.journal.close(intent.id)',
    replace: '',
    why: 'a picture stays uncertain for ever',
    seed: 1_000_000_110,
  },
  {
    name: "a person's word does not count against look-alikes",
    file: 'sync/uploads/adoption.ts',
    find: 'if (!only || synced.resend.has(job.file)) return null',
    replace: 'if (!only) return null',
    why: 'a picture stays ambiguous for ever',
    seed: 1_000_000_112,
  },
  {
    name: 'what nobody can compare may go',
    file: 'sync/audit/audit-repair.ts',
    find: 'unsureFor(context, image) > 0',
    replace: 'unsureFor(context, image) < 0',
    why: 'an image that is listed late is sent again',
    seed: 1_000_000_313,
  },
]
