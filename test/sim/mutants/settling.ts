import { always, never } from './by.ts'
import type { Mutant } from './mutant.ts'

/** What keeps half a picture from being sent. */
export const SETTLING: readonly Mutant[] = [
  {
    name: 'no settling',
    why: 'a picture is sent while somebody writes it',
    seed: 28,
    instead: {
      'sync/uploads/settled-picture.ts': {
        openSettled:
          original =>
          (context, ...rest) =>
            original({ ...context, settleMs: 0 }, ...rest),
      },
    },
  },
  {
    name: 'an old picture settles early',
    why: 'somebody writes over a picture that was never sent',
    seed: 1_000_000_042,
    instead: { 'sync/uploads/settled-picture.ts': { isNew: always } },
  },
  {
    name: 'a cut picture is not waited for',
    why: 'half of a picture is sent where its writer takes long',
    seed: 14_000_018,
    instead: {
      'sync/uploads/incomplete-pictures.ts': {
        waitForEnd:
          original =>
          (ending, ...rest) =>
            ending.kind === 'cut' ? null : original(ending, ...rest),
      },
    },
  },
  {
    name: 'blank room is not waited for',
    why: 'room that was reserved for a picture is sent',
    seed: 14_000_104,
    instead: {
      'sync/uploads/incomplete-pictures.ts': {
        waitForEnd:
          original =>
          (ending, ...rest) =>
            ending.kind === 'blank' ? null : original(ending, ...rest),
      },
    },
  },
  {
    name: 'a leap of the clock settles what is blank',
    why: 'a picture seems to be old that was begun a moment ago',
    seed: 1_000_000_040,
    instead: {
      'sync/uploads/incomplete-pictures.ts': {
        leftAloneMs:
          () =>
          ({ clock }, _, ctime) =>
            Math.abs(clock.wall() - ctime / 1000),
      },
    },
  },
  {
    name: 'stamps of whole seconds are taken at their word',
    why: 'a picture seems to be at rest that was written to just now',
    seed: 14006333,
    instead: { 'sync/clock.ts': { STAMP_GRAIN: () => 0 } },
  },
  {
    name: 'a stamp vouches for bytes that were read within its grain',
    why: 'a picture is written to once more, and its stamp stays the same',
    seed: 820_000_505,
    instead: { 'records/pictures.ts': { mayHideEdit: never } },
  },
  {
    name: 'what becomes of a picture under way is recorded before its upload ends',
    why: 'the record of the upload hides that the picture has changed',
    seed: 1_000_000_401,
    instead: {
      'sync/under-way.ts': {
        'UnderWay.leavesOut':
          original =>
          (...args) =>
            original(...args) && false,
      },
    },
  },
  {
    name: 'a folder of which something was left out is as it was looked at',
    why: 'later scans find the folder as it is recorded, and never record what was left out',
    seed: 1_000_000_401,
    instead: {
      'sync/scan/folder-records.ts': {
        'FolderRecords.#leftOut': original => Object.assign(original, { has: () => false }),
      },
    },
  },
  {
    name: 'a folder that is gone is recorded so while a picture of it is under way',
    why: 'no scan asks again what became of the picture, and its image stays',
    seed: 1_000_000_403,
    instead: { 'sync/scan/folder-records.ts': { 'FolderRecords.anyUnderWay': never } },
  },
  {
    name: 'a picture under way is begun once more',
    why: 'after each scan beside the uploads it is sent again',
    seed: 1_000_000_404,
    instead: { 'sync/under-way.ts': { 'UnderWay.mayBegin': always } },
  },
]
