import { always, given, never } from './by.ts'
import type { By, Row } from './mutant.ts'

const notFor =
  (kind: string): By =>
  original =>
  (context, job, read) =>
    read.verdict.kind === kind ? null : original(context, job, read)

/** What keeps half a picture from being sent. */
// biome-ignore format: a mutant is a row.
export const SETTLING: readonly Row[] = [
  [28, 'no settling', 'a picture is sent while somebody writes it',
    { 'sync/uploads/settled-picture.ts': { openSettled: given(0, 'settleMs', 0) } }],
  [1_000_000_042, 'an old picture settles early', 'somebody writes over a picture that was never sent',
    { 'sync/uploads/settled-picture.ts': { isNew: always } }],
  [14_000_018, 'a picture of which something is missing is not waited for', 'half of a picture is sent where its writer takes long',
    { 'sync/uploads/incomplete-pictures.ts': { 'IncompletePictures.judge': notFor('missing') } }],
  [14_000_104, 'blank room is not waited for', 'room that was reserved for a picture is sent',
    { 'sync/uploads/incomplete-pictures.ts': { 'IncompletePictures.judge': notFor('odd') } }],
  [1_000_000_040, 'a leap of the clock settles what is blank',
    'a picture seems to be old that was begun a moment ago',
    { 'sync/uploads/incomplete-pictures.ts': {
      leftAloneMs: () => ({ clock }, _, ctime) => Math.abs(clock.wall() - ctime / 1000),
    } }],
  [1_000_000_742, 'stamps of whole seconds are taken at their word',
    'a picture seems to be at rest that was written to just now',
    { 'sync/clock.ts': { STAMP_GRAIN: () => 0 } }],
  [1_000_000_741, 'a stamp vouches for bytes that were read within its grain',
    'a picture is written to once more, and its stamp stays the same',
    { 'records/pictures.ts': { mayHideEdit: never } }],
  [1_000_000_401, 'what becomes of a picture under way is recorded before its upload ends',
    'the record of the upload hides that the picture has changed',
    { 'sync/under-way.ts': { 'UnderWay.leavesOut': original => (...args) => original(...args) && false } }],
  [1_000_000_401, 'a folder of which something was left out is as it was looked at',
    'later scans find the folder as it is recorded, and never record what was left out',
    { 'sync/scan/folder-records.ts': {
      'FolderRecords.#leftOut': original => Object.assign(original, { has: () => false }),
    } }],
  [1_000_000_403, 'a folder that is gone is recorded so while a picture of it is under way',
    'no scan asks again what became of the picture, and its image stays',
    { 'sync/scan/folder-records.ts': { 'FolderRecords.anyUnderWay': never } }],
  [1_000_000_404, 'a picture under way is begun once more', 'after each scan beside the uploads it is sent again',
    { 'sync/under-way.ts': { 'UnderWay.mayBegin': always } }],
]
