import { codeOf } from '../../../src/words/reasons.ts'
import { but, given, idle, never, nothing, resolving, returning, within } from './by.ts'
import type { By, Row } from './mutant.ts'

/** Where everything is scanned again, the pass goes on with what its first scan saw. */
function withoutSecondLook(): Record<string, By> {
  let first: unknown
  return {
    deleteDueImages: original => (context, pass, before) => {
      first = before
      return original(context, pass, before)
    },
    scanEverythingAgain: () => async () => first,
    uploadPending: () => async (_, __, scanned) => scanned,
  }
}

const few = returning(() => 'few')
/** What keeps an image from being deleted. */
// biome-ignore format: a mutant is a row.
export const DELETIONS: readonly Row[] = [
  [1_000_000_430, 'only NOT_FOUND tells that an image is gone', 'its deletion is asked for once an hour, for ever',
    { 'sync/deletions/send-delete.ts': { isOfThisOne: never } }],
  [2000061715, 'where images are not counted rightly, no listing tells that one is gone',
    'its deletion is asked for once an hour, for ever',
    { 'sync/deletions/delete-images.ts': {
      walkWhole: resolving(walk => (walk.ok ? but(walk, 'value.settled', walk.value.complete) : walk)),
    } }],
  [300008256, 'a deletion that the plan refuses counts as done',
    'a picture that comes back is sent again beside its image',
    { 'sync/deletions/send-delete.ts': {
      sendDelete: original => (context, ...rest) => {
        const deleteImage = async (...args: unknown[]) => {
          const deleted = await context.host.deleteImage(...args)
          return deleted.failure?.remedy === 'plan' ? { ok: true } : deleted
        }
        return original(but(context, 'host.deleteImage', deleteImage), ...rest)
      },
    } }],
  [23034174, 'a backup keeps its images from its own deletions alone',
    'where equal bytes have one id, another mirror deletes what the backup had',
    { 'sync/deletions/send-delete.ts': { 'QUESTIONS.isKeptForGood': nothing } }],
  [1_000_000_021, 'running time is recorded at the end of a pass alone',
    'after a crash a grace takes as much longer as albumd had run before it',
    { 'records/escrow.ts': within('enterEscrow', 'recordRunning', idle) }],
  [72, 'no hold', 'everything may go at once, unasked',
    { 'sync/deletions/hold.ts': { howMany: few } }],
  [450_000_019, 'many wait as few do', 'a slip below the hold is done before anyone could have said no',
    { 'sync/deletions/hold.ts': { howMany: returning(many => (many === 'many' ? 'few' : many)) } }],
  [450_000_800, 'many wait for no later command', 'a slip is done by the very `sync` that finds it',
    { 'records/escrow.ts': { delayed: given(1, 'until', 0) } }],
  [450_000_096, 'many that wait hasten', 'what waits longer goes as soon as the next grace is over',
    { 'records/escrow.ts': { delayed: given(1, 'due_at', 0) } }],
  [450_000_195, 'what was deleted counts no more', 'pictures that go one by one are few for ever',
    { 'sync/deletions/hold.ts': { WINDOW_MS: () => 0 } }],
  [450_000_137, 'only a share of a large mirror is too many', 'a small mirror loses nearly all, unasked',
    { 'sync/deletions/hold.ts': { HALF: () => 1 } }],
  [450_000_019, 'a few in a small mirror are few', 'half of a small mirror goes as soon as a picture of a large one',
    { 'sync/deletions/hold.ts': { FEW_SHARE: () => 1 } }],
  [44, 'no second look at everything', 'a picture that moved behind the scan loses its image',
    { 'sync/deletions/delete-due.ts': withoutSecondLook() }],
  [7, 'no last look at the path', 'a file that is back by now loses its image',
    { 'sync/deletions/send-delete.ts': { 'QUESTIONS.isThereAgain': nothing } }],
  [2000061962, 'no last look at the path of an image that no file uses',
    'an older version whose upload was found out goes though its file may be back',
    { 'sync/deletions/send-delete.ts': { 'QUESTIONS.isLocationTaken': nothing } }],
  [148, 'moves do not wait', 'the old image of a moved picture goes before the new one is there',
    { 'sync/deletions/send-delete.ts': { 'QUESTIONS.mayHaveMoved': nothing } }],
  [1900, 'a linked image is deleted unproved', "another person's image of the same name goes",
    // What came within the last hour is compared before it is linked. This is a later hour.
    { 'sync/deletions/delete-images.ts': { whyUnproved: nothing }, 'sync/clock.ts': { mayBePromised: never } }],
  [71, 'the upload does not come before the deletion', 'a changed file has no image for a while',
    { 'records/pictures.ts': {
      changed: original => (tx, change, location, moment) => {
        original(tx, change, location, moment)
        const { file } = change
        if (file.state !== 'pending' || file.image === null) return
        const entry = { image: file.image, reason: 'superseded', state: 'grace', since: 0, due_at: 0 }
        tx.escrow.put({ ...location, ...entry })
        tx.files.put({ ...file, image: null })
      },
    } }],
  [1_000_000_008, "a mirror's own album goes when it is empty", 'a person has named the album in the config',
    { 'sync/deletions/unused-albums.ts': { 'folderlessAlbums.isFolderless': () => ({ path }) => path.length > 0 } }],
  [130, 'a deletion goes again without another look', 'a picture came back while the host was in trouble',
    { 'sync/deletions/delete-images.ts': { sendDelete: given(1, 'whyNot', () => null) } }],
  [1_000_000_001, 'a deletion leaves no intent', 'a file that comes back is linked to an image that may be gone',
    { 'sync/uploads/upload.ts': { 'Uploader.#isThere': () => (image, hash) => image.hash.equals(hash) } }],
  [7, 'no grace', 'a picture that is gone for a moment loses its image',
    { 'records/escrow.ts': { enterEscrow: given(2, 'graceMs', 1) } }],
  [64, 'a backup is a mirror', 'what is gone from a backup goes from the host',
    { 'sync/plan.ts': { planMissing: given(2, 'deletions', 'propagate') },
      'sync/deletions/delete-due.ts': { keepAll: idle },
      'sync/deletions/last-check.ts': {
        'LastCheck.whyNotGone': returning(why => (why && codeOf(why) === 'other_mirror_keeps' ? null : why)),
      } }],
  [1_000_000_007, 'what a person kept is given up after all', 'a person chose to keep an image for good',
    { 'sync/plan.ts': {
        planMissing: original => (file, why, ...rest) =>
          original(file.state === 'kept' && why === 'gone' ? { ...file, state: 'synced' } : file, why, ...rest),
      },
      'records/escrow.ts': { kept: given(0, 'images.keep', () => {}) } }],
]
