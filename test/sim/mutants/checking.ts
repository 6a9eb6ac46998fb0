import { always, but, idle, never } from './by.ts'
import type { By, Mutant } from './mutant.ts'

/** All looks at an album in one repair are the first one. */
function oneLook(): Record<string, By> {
  const looks = new Map<number | null, Promise<object>>()
  return {
    repairGone:
      original =>
      (...args) => {
        looks.clear()
        return original(...args)
      },
    lookAtAlbum: original => (context, album, signal) => {
      const first = looks.get(album) ?? original(context, album, signal)
      looks.set(album, first)
      return first.then((look: object) => ({ ...look, atOnce: true }))
    },
  }
}

/** Everything is walked, and nothing is found. */
const nowhere: By =
  original =>
  async (...args) => {
    const walk = await original(...args)
    return { ...walk, value: { ...walk.value, images: [] } }
  }

/** In an audit, all walks of an album are whole. */
function wholeWalks(): Record<string, Record<string, By>> {
  let isAudit = false
  const lookAtAlbum: By =
    original =>
    async (...args) => {
      isAudit = true
      const look = await original(...args)
      isAudit = false
      return look
    }
  const walkAlbum: By =
    original =>
    async (...args) => {
      const walk = await original(...args)
      return walk.ok && isAudit ? but(walk, 'value.complete', true) : walk
    }
  return { 'sync/audit/audit.ts': { lookAtAlbum }, 'sync/listing/walk.ts': { walkAlbum } }
}

/** What audits, and a person's word, rely on. */
export const CHECKING: readonly Mutant[] = [
  {
    name: "a person's wish outlives the state that knew of it",
    why: 'what was sent again on a word is sent once more after an older state was put back',
    seed: 1_000_000_037,
    instead: {
      'sync/clock.ts': { noteOlder: original => tx => original(but(tx, 'resend.forget', () => {})) },
    },
  },
  {
    name: "a repair deletes another person's twin",
    why: "another person's image that looks like one of ours goes",
    seed: 1_000_000_102,
    instead: { 'sync/audit/audit-repair.ts': { isOurs: always } },
  },
  {
    name: 'a repair puts nothing back',
    why: 'what another person deleted stays away',
    seed: 1_000_000_101,
    instead: { 'sync/audit/audit-repair.ts': { lost: idle } },
  },
  {
    name: 'a repair believes one walk',
    why: 'what every other walk lacks is sent again',
    seed: 1_000_000_603,
    instead: { 'sync/audit/audit-repair.ts': { ...oneLook(), walkEverything: nowhere } },
  },
  {
    name: 'an audit tells the age of an image by the wall clock alone',
    why: 'what a host lists late is sent again once a clock was set forward',
    seed: 23018350,
    instead: {
      'sync/audit/audit.ts': {
        youngFor:
          () =>
          ({ ages, clock, credentialLifetimeMs }, { recorded_at }) => {
            ages.look(clock)
            return Math.max(0, credentialLifetimeMs - Math.abs(clock.wall() - recorded_at))
          },
      },
    },
  },
  {
    name: 'passes do not look at the clock',
    why: 'the clock is trusted only once an age is asked for, and a repair gives no lost picture back',
    seed: 1_000_000_415,
    instead: {
      'sync/pass.ts': {
        recordTime: original => (tx, context) =>
          original(
            but(
              tx,
              'meta.set',
              (key: string, value: unknown) => key === 'wall_clock' || tx.meta.set(key, value),
            ),
            { ...context, ages: { look() {} } },
          ),
      },
    },
  },
  {
    name: 'a repair believes listings about young images without an address',
    why: 'what a host lists late, and tells no address for, is sent again',
    seed: 300_000_756,
    instead: { 'sync/audit/audit.ts': { unsureFor: () => () => 0 } },
  },
  {
    name: 'a repair deletes while a mirror is in doubt',
    why: 'a picture may be where nobody can look',
    seed: 1_000_000_104,
    instead: { 'daemon/commands/audit.ts': { 'audit.inDoubt': () => false } },
  },
  {
    name: 'a repair deletes however many there are',
    why: 'a host that is back from a backup loses all that it has again',
    seed: 1_000_000_105,
    instead: {
      'sync/audit/audit-repair.ts': {
        deleteTwice:
          original =>
          (context, _, ...rest) =>
            original(context, Number.POSITIVE_INFINITY, ...rest),
      },
    },
  },
  {
    name: 'a repair goes on when a person pauses albumd',
    why: 'images go while nothing is to be deleted',
    seed: 1_000_000_106,
    instead: { 'daemon/commands/audit.ts': { 'audit.mayGo': always } },
  },
  {
    name: 'an audit looks for uploads without an album in the root alone',
    why: 'what lies in the default album is said to be gone, and sent again',
    seed: 1_000_000_108,
    instead: {
      'sync/audit/audit.ts': {
        lookAtAlbum:
          original =>
          (context, ...rest) =>
            original(
              but(context, 'synced.meta.get', () => ''),
              ...rest,
            ),
      },
      'sync/audit/audit-repair.ts': {
        walkEverything: nowhere,
        // Otherwise the next upload into the album would find its image there.
        repairGone: original => (context, interruption) =>
          original({ ...context, contents: { forget() {} } }, interruption),
      },
    },
  },
  {
    name: 'an audit takes any walk for a whole one',
    why: 'what a torn walk does not show is said to be gone',
    seed: 1_000_000_109,
    instead: wholeWalks(),
  },
  {
    name: 'an audit does not know what albumd deleted',
    why: "what the host kept is taken for another person's",
    seed: 1_000_000_103,
    instead: { 'sync/audit/audit-album.ts': { 'recordsOf.wasDeleted': never } },
  },
  {
    name: 'what is not in doubt is sent again',
    why: 'what the host has already is sent beside it',
    seed: 1_000_000_111,
    instead: {
      'daemon/commands/sync.ts': {
        inDoubtAt: original => (config, synced, path) => {
          const { inState } = synced.files
          const waiting = () => inState('pending').map((file: object) => ({ ...file, state: 'uncertain' }))
          return original(
            config,
            but(synced, 'files.inState', (state: string) => [...inState(state), ...waiting()]),
            path,
          )
        },
      },
    },
  },
  {
    name: "a person's word leaves the doubt open",
    why: 'a picture stays uncertain for ever',
    seed: 1_000_000_110,
    instead: {
      'records/pictures.ts': {
        resent:
          original =>
          (tx, ...rest) =>
            original(
              but(tx, 'journal.openOnFile', () => []),
              ...rest,
            ),
      },
    },
  },
  {
    name: "a person's word does not count against look-alikes",
    why: 'a picture stays ambiguous for ever',
    seed: 1_000_000_112,
    instead: {
      'sync/uploads/adoption.ts': {
        adopt:
          original =>
          (context, ...rest) =>
            original(
              but(context, 'synced.resend.has', () => false),
              ...rest,
            ),
      },
    },
  },
]
