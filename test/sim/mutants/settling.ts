import type { Mutant } from './mutant.ts'

/** What keeps half a picture from being sent. */
export const SETTLING: readonly Mutant[] = [
  {
    name: 'no settling',
    file: 'sync/uploads/settled-picture.ts',
    find: 'if (age >= settleMs) return first',
    replace: 'if (settleMs >= 0) return first',
    why: 'a picture is sent while somebody writes it',
    seed: 28,
  },
  {
    name: 'an old picture settles early',
    file: 'sync/uploads/settled-picture.ts',
    find: '(isNew(first, settleMs) || incomplete.wasJustCut(file, clock))',
    replace: '(isNew(first, Number.POSITIVE_INFINITY) || incomplete.wasJustCut(file, clock))',
    why: 'somebody writes over a picture that was never sent',
    seed: 1_000_000_042,
  },
  {
    name: 'a cut picture is not waited for',
    file: 'sync/uploads/incomplete-pictures.ts',
    find: 'switch (ending.kind) {',
    replace: "switch (ending.kind === 'cut' ? 'whole' : ending.kind) {",
    why: 'half of a picture is sent where its writer takes long',
    seed: 14_000_018,
  },
  {
    name: 'blank room is not waited for',
    file: 'sync/uploads/incomplete-pictures.ts',
    find: 'switch (ending.kind) {',
    replace: "switch (ending.kind === 'blank' ? 'whole' : ending.kind) {",
    why: 'room that was reserved for a picture is sent',
    seed: 14_000_104,
  },
  {
    name: 'a leap of the clock settles what is blank',
    file: 'sync/uploads/incomplete-pictures.ts',
    find: "cut && action === 'leave' ? age",
    replace: "action === 'leave' ? age",
    why: 'a picture seems to be old that was begun a moment ago',
    seed: 1_000_000_040,
  },
  {
    name: 'stamps of whole seconds are taken at their word',
    file: 'sync/clock.ts',
    find: 'ctime % 1_000_000 === 0 ? STAMP_GRAIN : 0',
    replace: 'ctime % 1_000_000 === 0.5 ? STAMP_GRAIN : 0',
    why: 'a picture seems to be at rest that was written to just now',
    seed: 14006333,
  },
]
