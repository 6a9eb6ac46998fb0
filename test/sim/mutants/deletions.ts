import type { Mutant } from './mutant.ts'

/** What keeps an image from being deleted. */
export const DELETIONS: readonly Mutant[] = [
  {
    name: 'a deletion that the plan refuses counts as done',
    file: 'sync/deletions/send-delete.ts',
    find: "answer.failure.remedy === 'gone' ?",
    replace: "['gone', 'plan'].includes(answer.failure.remedy) ?",
    why: 'a picture that comes back is sent again beside its image',
    seed: 300008256,
  },
  {
    name: 'a backup keeps its images from its own deletions alone',
    file: 'sync/deletions/send-delete.ts',
    find: "(image.kept === 1 ? because('kept_for_good') : null)",
    replace: "(image.proof === undefined ? because('kept_for_good') : null)",
    why: 'where equal bytes have one id, another mirror deletes what the backup had',
    seed: 23034174,
  },
  {
    name: 'running time is recorded at the end of a pass alone',
    file: 'records/escrow.ts',
    find: '  recordRunning(tx, moment)\n',
    replace: '',
    why: 'after a crash a grace takes as much longer as albumd had run before it',
    seed: 1_000_000_021,
  },
  {
    name: 'no hold',
    file: 'sync/deletions/hold.ts',
    find: 'if (!isTooMuch(weight, policy)) return',
    replace: 'if (weight) return',
    why: 'everything may go at once, unasked',
    seed: 72,
  },
  {
    name: 'no second look at everything',
    file: 'sync/deletions/delete-due.ts',
    find: 'const scanned = await uploadPending(context, pass, await scanEverythingAgain(context, pass))',
    replace: 'const scanned = [...before]',
    why: 'a picture that moved behind the scan loses its image',
    seed: 44,
  },
  {
    name: 'no last look at the path',
    file: 'sync/deletions/send-delete.ts',
    find: 'const why = disk?.whyNotGone(file)',
    replace: 'const why = file === undefined ? disk?.whyNotGone(file) : null',
    why: 'a file that is back by now loses its image',
    seed: 7,
  },
  {
    name: 'moves do not wait',
    file: 'sync/deletions/send-delete.ts',
    find: 'return move && because(',
    replace: 'return move && null && because(',
    why: 'the old image of a moved picture goes before the new one is there',
    seed: 148,
  },
  {
    name: 'a linked image is deleted unproved',
    file: 'sync/deletions/delete-images.ts',
    find: "if (image.proof !== 'none' || state === 'approved') return null",
    replace: "if (state !== 'held') return null",
    why: "another person's image of the same name goes",
    seed: 1900,
  },
  {
    name: 'the upload does not come before the deletion',
    file: 'records/pictures.ts',
    find: 'if (file.image !== null) takenBack(tx, file.image)',
    replace:
      "if (file.image !== null && file.state === 'pending') { tx.escrow.put({ image: file.image, mirror, path: file.name, reason: 'superseded', state: 'grace', since: 0, due_at: 0 }); tx.files.put({ ...file, image: null }) } else if (file.image !== null) takenBack(tx, file.image)",
    why: 'a changed file has no image for a while',
    seed: 71,
  },
  {
    name: 'an album goes whole, wherever its pictures are',
    edits: [
      {
        file: 'sync/deletions/whole-albums.ts',
        find: 'if (!shown || whyAlbumStays(context, whole, disk) !== null) continue',
        replace: 'if (!shown) continue',
      },
      {
        file: 'sync/deletions/whole-albums.ts',
        find: 'whyNot: () => whyAlbumStays(context, whole, disk),',
        replace: 'whyNot: () => (disk ? null : whyAlbumStays(context, whole, disk)),',
      },
    ],
    why: 'a picture is back, or its place was not looked at again',
    seed: 1_100_081,
  },
  {
    name: 'an album goes whole, whatever else is in it',
    file: 'sync/deletions/whole-albums.ts',
    find: 'if (!shown || whyAlbumStays(context, whole, disk) !== null) continue',
    replace: 'if (whyAlbumStays(context, whole, disk) !== null) continue',
    why: "another person's image goes with the album",
    seed: 1_110_916,
  },
  {
    name: "a mirror's own album goes when it is empty",
    edits: [
      {
        file: 'sync/deletions/unused-albums.ts',
        find: 'if (mirrors.some(({ root }) => startsWith(root, path))) return false',
        replace: 'if (path.length === 0) return false',
      },
      {
        file: 'sync/deletions/unused-albums.ts',
        find: 'return !neededBy(only).has(keyOf(path))',
        replace: 'return path.length === only.root.length || !neededBy(only).has(keyOf(path))',
      },
    ],
    why: 'a person has named the album in the config',
    seed: 1_000_000_008,
  },
  {
    name: 'a deletion goes again without another look',
    file: 'sync/deletions/delete-images.ts',
    find: 'whyNot: () => whyImageStays(context, image, disk),',
    replace: 'whyNot: () => (disk ? null : whyImageStays(context, image, disk)),',
    why: 'a picture came back while the host was in trouble',
    seed: 130,
  },
  {
    name: 'a deletion leaves no intent',
    file: 'sync/uploads/upload.ts',
    find: 'if (used?.hash.equals(hash) && !synced.journal.deletionOf(used.id)) {',
    replace: 'if (used?.hash.equals(hash)) {',
    why: 'a file that comes back is linked to an image that may be gone',
    seed: 1_000_000_001,
  },
  {
    name: 'no grace',
    file: 'records/escrow.ts',
    find: 'WITHOUT_GRACE : running + graceMs',
    replace: 'WITHOUT_GRACE : running',
    why: 'a picture that is gone for a moment loses its image',
    seed: 7,
  },
  {
    name: 'a backup is a mirror',
    edits: [
      {
        file: 'sync/plan.ts',
        find: "if (deletions === 'keep' && file.image !== null)",
        replace: "if (deletions === 'keep' && file.image === undefined)",
      },
      {
        file: 'sync/deletions/delete-due.ts',
        find: "if (mirror.policy.deletions === 'keep') await keepAll(context, mirror)",
        replace: 'if (mirror === null) await keepAll(context, mirror)',
      },
      {
        file: 'sync/deletions/last-check.ts',
        find: "if (mirror.policy.deletions === 'keep') return because('other_mirror_keeps')",
        replace: "if (mirror === null) return because('other_mirror_keeps')",
      },
    ],
    why: 'what is gone from a backup goes from the host',
    seed: 64,
  },
  {
    name: 'what a person kept is given up after all',
    edits: [
      {
        file: 'sync/plan.ts',
        find: "if (file.state === 'kept') return null",
        replace: "if (file.state === 'kept' && why !== 'gone') return null",
      },
      {
        file: 'records/file-states.ts',
        find: "gone: ['pending',",
        replace: "gone: ['kept', 'pending',",
      },
      {
        file: 'records/escrow.ts',
        find: '    tx.images.keep(image)\n    tx.escrow',
        replace: '    tx.escrow',
      },
    ],
    why: 'a person chose to keep an image for good',
    seed: 1_000_000_007,
  },
]
