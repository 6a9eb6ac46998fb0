import { codeOf } from '../../../src/words/reasons.ts'
import { but, idle, never, nothing, within } from './by.ts'
import type { By, Mutant } from './mutant.ts'

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

/** What keeps an image from being deleted. */
export const DELETIONS: readonly Mutant[] = [
  {
    name: 'a deletion that the plan refuses counts as done',
    why: 'a picture that comes back is sent again beside its image',
    seed: 300008256,
    instead: {
      'sync/deletions/send-delete.ts': {
        sendDelete:
          original =>
          (context, ...rest) =>
            original(
              but(context, 'host.deleteImage', async (...args: unknown[]) => {
                const answer = await context.host.deleteImage(...args)
                return answer.failure?.remedy === 'plan' ? { ok: true } : answer
              }),
              ...rest,
            ),
      },
    },
  },
  {
    name: 'a backup keeps its images from its own deletions alone',
    why: 'where equal bytes have one id, another mirror deletes what the backup had',
    seed: 23034174,
    instead: { 'sync/deletions/send-delete.ts': { 'QUESTIONS.isKeptForGood': nothing } },
  },
  {
    name: 'running time is recorded at the end of a pass alone',
    why: 'after a crash a grace takes as much longer as albumd had run before it',
    seed: 1_000_000_021,
    instead: { 'records/escrow.ts': within('enterEscrow', 'recordRunning', idle) },
  },
  {
    name: 'no hold',
    why: 'everything may go at once, unasked',
    seed: 72,
    instead: { 'sync/deletions/hold.ts': { isTooMuch: never } },
  },
  {
    name: 'no second look at everything',
    why: 'a picture that moved behind the scan loses its image',
    seed: 44,
    instead: { 'sync/deletions/delete-due.ts': withoutSecondLook() },
  },
  {
    name: 'no last look at the path',
    why: 'a file that is back by now loses its image',
    seed: 7,
    instead: { 'sync/deletions/send-delete.ts': { 'QUESTIONS.isThereAgain': nothing } },
  },
  {
    name: 'moves do not wait',
    why: 'the old image of a moved picture goes before the new one is there',
    seed: 148,
    instead: { 'sync/deletions/send-delete.ts': { 'QUESTIONS.mayHaveMoved': nothing } },
  },
  {
    name: 'a linked image is deleted unproved',
    why: "another person's image of the same name goes",
    seed: 1900,
    instead: { 'sync/deletions/delete-images.ts': { whyUnproved: nothing } },
  },
  {
    name: 'the upload does not come before the deletion',
    why: 'a changed file has no image for a while',
    seed: 71,
    instead: {
      'records/pictures.ts': {
        changed: original => (tx, change, location, moment) => {
          original(tx, change, location, moment)
          const { file } = change
          if (file.state !== 'pending' || file.image === null) return
          tx.escrow.put({
            ...location,
            image: file.image,
            reason: 'superseded',
            state: 'grace',
            since: 0,
            due_at: 0,
          })
          tx.files.put({ ...file, image: null })
        },
      },
    },
  },
  {
    name: "a mirror's own album goes when it is empty",
    why: 'a person has named the album in the config',
    seed: 1_000_000_008,
    instead: {
      'sync/deletions/unused-albums.ts': {
        'folderlessAlbums.isFolderless':
          () =>
          ({ path }) =>
            path.length > 0,
      },
    },
  },
  {
    name: 'a deletion goes again without another look',
    why: 'a picture came back while the host was in trouble',
    seed: 130,
    instead: {
      'sync/deletions/delete-images.ts': {
        sendDelete: original => (context, deletion, signal) =>
          original(context, { ...deletion, whyNot: () => null }, signal),
      },
    },
  },
  {
    name: 'a deletion leaves no intent',
    why: 'a file that comes back is linked to an image that may be gone',
    seed: 1_000_000_001,
    instead: {
      'sync/uploads/upload.ts': { 'Uploader.#isThere': () => (image, hash) => image.hash.equals(hash) },
    },
  },
  {
    name: 'no grace',
    why: 'a picture that is gone for a moment loses its image',
    seed: 7,
    instead: {
      'records/escrow.ts': {
        enterEscrow: original => (tx, entry, moment) => original(tx, entry, { ...moment, graceMs: 1 }),
      },
    },
  },
  {
    name: 'a backup is a mirror',
    why: 'what is gone from a backup goes from the host',
    seed: 64,
    instead: {
      'sync/plan.ts': {
        planMissing: original => (file, why, policy, now) =>
          original(file, why, { ...policy, deletions: 'propagate' }, now),
      },
      'sync/deletions/delete-due.ts': { keepAll: idle },
      'sync/deletions/last-check.ts': {
        'LastCheck.whyNotGone': original => file => {
          const why = original(file)
          return why && codeOf(why) === 'other_mirror_keeps' ? null : why
        },
      },
    },
  },
  {
    name: 'what a person kept is given up after all',
    why: 'a person chose to keep an image for good',
    seed: 1_000_000_007,
    instead: {
      'sync/plan.ts': {
        planMissing:
          original =>
          (file, why, ...rest) =>
            original(
              file.state === 'kept' && why === 'gone' ? { ...file, state: 'synced' } : file,
              why,
              ...rest,
            ),
      },
      'records/escrow.ts': {
        kept:
          original =>
          (tx, ...rest) =>
            original(
              but(tx, 'images.keep', () => {}),
              ...rest,
            ),
      },
    },
  },
]
