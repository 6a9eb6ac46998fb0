import { always, but, given, idle, never, resolving } from './by.ts'
import type { By, Row } from './mutant.ts'

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
const nowhere = resolving(walk => but(walk, 'value.images', []))

/** In an audit, all walks of an album are whole. */
function wholeWalks(): Record<string, Record<string, By>> {
  let isAudit = false
  const lookAtAlbum: By =
    original =>
    (...args) => {
      isAudit = true
      return original(...args).finally(() => (isAudit = false))
    }
  const walkAlbum = resolving(walk => (walk.ok && isAudit ? but(walk, 'value.complete', true) : walk))
  return { 'sync/audit/audit.ts': { lookAtAlbum }, 'sync/listing/walk.ts': { walkAlbum } }
}

/** What audits, and a person's word, rely on. */
// biome-ignore format: a mutant is a row.
export const CHECKING: readonly Row[] = [
  [1_000_000_037, "a person's wish outlives the state that knew of it",
    'what was sent again on a word is sent once more after an older state was put back',
    { 'sync/clock.ts': { noteOlder: given(0, 'resend.forget', () => {}) } }],
  [1_000_000_102, "a repair deletes another person's twin", "another person's image that looks like one of ours goes",
    { 'sync/audit/audit-repair.ts': { isOurs: always } }],
  [1_000_000_101, 'a repair puts nothing back', 'what another person deleted stays away',
    { 'sync/audit/audit-repair.ts': { lost: idle } }],
  [1_000_000_603, 'a repair believes one walk', 'what every other walk lacks is sent again',
    { 'sync/audit/audit-repair.ts': { ...oneLook(), walkEverything: nowhere } }],
  [23018350, 'an audit tells the age of an image by the wall clock alone',
    'what a host lists late is sent again once a clock was set forward',
    { 'sync/audit/audit.ts': {
      youngFor: () => ({ ages, clock, credentialLifetimeMs }, { recorded_at }) => {
        ages.look(clock)
        return Math.max(0, credentialLifetimeMs - Math.abs(clock.wall() - recorded_at))
      },
    } }],
  [1_000_000_415, 'passes do not look at the clock',
    'the clock is trusted only once an age is asked for, and a repair gives no lost picture back',
    { 'sync/pass.ts': {
      recordTime: original => (tx, context) => {
        const set = (key: string, value: unknown) => key === 'wall_clock' || tx.meta.set(key, value)
        original(but(tx, 'meta.set', set), { ...context, ages: { look() {} } })
      },
    } }],
  [300_000_756, 'a repair believes listings about young images without an address',
    'what a host lists late, and tells no address for, is sent again',
    { 'sync/audit/audit.ts': { unsureFor: () => () => 0 } }],
  [1_000_000_104, 'a repair deletes while a mirror is in doubt', 'a picture may be where nobody can look',
    { 'daemon/commands/audit.ts': { 'audit.inDoubt': () => false } }],
  [1_000_000_105, 'a repair deletes however many there are',
    'a host that is back from a backup loses all that it has again',
    { 'sync/audit/audit-repair.ts': { deleteTwice: given(1, '', Number.POSITIVE_INFINITY) } }],
  [1_000_000_106, 'a repair goes on when a person pauses albumd', 'images go while nothing is to be deleted',
    { 'daemon/commands/audit.ts': { 'audit.mayGo': always } }],
  [1_000_000_108, 'an audit looks for uploads without an album in the root alone',
    'what lies in the default album is said to be gone, and sent again',
    // Otherwise the next upload into the album would find its image there.
    { 'sync/audit/audit.ts': { lookAtAlbum: given(0, 'synced.meta.get', () => '') },
      'sync/audit/audit-repair.ts': { walkEverything: nowhere, repairGone: given(0, 'contents', { forget() {} }) } }],
  [1_000_000_109, 'an audit takes any walk for a whole one', 'what a torn walk does not show is said to be gone',
    wholeWalks()],
  [1_000_000_103, 'an audit does not know what albumd deleted', "what the host kept is taken for another person's",
    { 'sync/audit/audit-album.ts': { 'recordsOf.wasDeleted': never } }],
  [1_000_000_111, 'what is not in doubt is sent again', 'what the host has already is sent beside it',
    { 'daemon/commands/sync.ts': {
      inDoubtAt: original => (config, synced, path) => {
        const { inState } = synced.files
        const waiting = () => inState('pending').map((file: object) => ({ ...file, state: 'uncertain' }))
        const inDoubt = (state: string) => [...inState(state), ...waiting()]
        return original(config, but(synced, 'files.inState', inDoubt), path)
      },
    } }],
  [1_000_000_110, "a person's word leaves the doubt open", 'a picture stays uncertain for ever',
    { 'records/pictures.ts': { resent: given(0, 'journal.openOnFile', () => []) } }],
  [1_000_000_112, "a person's word does not count against look-alikes", 'a picture stays ambiguous for ever',
    { 'sync/uploads/adoption.ts': { adopt: given(0, 'synced.resend.has', () => false) } }],
]
