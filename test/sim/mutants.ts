export interface Edit {
  /** Below `src/`. */
  file: string
  /** Occurs exactly once in it, or the table is wrong. */
  find: string
  replace: string
}

/** A protection of the engine, switched off. */
export interface Mutant {
  name: string
  edits: readonly Edit[]
  /** What goes wrong without the protection. */
  why: string
  /** A history that shows it, and that holds with the protection. */
  seed: number
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'no hold',
    edits: [
      {
        file: 'sync/hold.ts',
        find: 'if (!isTooMuch(weight, policy)) return',
        replace: 'if (weight) return',
      },
    ],
    why: 'everything may go at once, unasked',
    seed: 3,
  },
  {
    name: 'no guard of the root',
    edits: [
      {
        file: 'sync/root-guard.ts',
        find: 'if (mostAreThere(disk, folder, known)) return trusted',
        replace: 'if (known) return trusted',
      },
    ],
    why: 'another folder in the place of the root is taken for the truth',
    seed: 142,
  },
  {
    name: 'an empty root is trusted',
    edits: [
      {
        file: 'sync/root-guard.ts',
        find: 'if (isIt && !empty && identity.birthtime !== 0) return trusted',
        replace: 'if (isIt) return trusted',
      },
    ],
    why: 'a disk that is not mounted deletes everything',
    seed: 574,
  },
  {
    name: 'an unknown folder is no doubt',
    edits: [
      {
        file: 'sync/pass.ts',
        find: 'const doubt = doubtAbout(synced, mirrors)',
        replace: 'const doubt = null as string | null',
      },
      { file: 'sync/ground.ts', find: 'if (row.guard !== null) return row.guard', replace: '' },
    ],
    why: 'a picture may lie in the folder that can not be read',
    seed: 148,
  },
  {
    name: 'no second look at everything',
    edits: [
      {
        file: 'sync/pass.ts',
        find: "const scanned = await mirrorUp(parts, mirrors, () => 'everything', interruption, stopped)",
        replace: 'const scanned = [...before]',
      },
    ],
    why: 'a picture that moved behind the scan loses its image',
    seed: 23,
  },
  {
    name: 'no last look at the path',
    edits: [
      {
        file: 'sync/give-up.ts',
        find: 'const why = whyNotGone(file)',
        replace: 'const why = whyNotGone === undefined ? whyNotGone : null',
      },
    ],
    why: 'a file that is back by now loses its image',
    seed: 7,
  },
  {
    name: 'moves do not wait',
    edits: [
      {
        file: 'sync/plan.ts',
        find: 'const moved = open.some(file => file.hash === null || file.hash.equals(hash))',
        replace: 'const moved = open.some(() => false)',
      },
    ],
    why: 'the old image of a moved picture goes before the new one is there',
    seed: 148,
  },
  {
    name: 'no journal',
    edits: [
      {
        file: 'sync/pass.ts',
        find: 'const open = synced.journal.openUploads()\n',
        replace:
          'const open: OpenUpload[] = []\n  for (const { id } of synced.journal.openUploads()) synced.journal.close(id)\n',
      },
    ],
    why: 'an upload that was cut off is sent again, blindly',
    seed: 69,
  },
  {
    name: 'blind resend',
    edits: [
      {
        file: 'sync/sender.ts',
        find: "if (sent.ok || sent.failure.remedy !== 'find_out') synced.journal.close(intent)",
        replace: 'synced.journal.close(intent)',
      },
      {
        file: 'sync/sender.ts',
        find: "else if (last.remedy !== 'new_credential') return refused(last)",
        replace:
          "else if (last.remedy !== 'new_credential' && last.remedy !== 'find_out') return refused(last)",
      },
    ],
    why: 'an upload whose answer was lost is sent again at once',
    seed: 44,
  },
  {
    name: 'a deletion leaves no intent',
    edits: [
      {
        file: 'sync/upload.ts',
        find: 'if (standing?.hash.equals(hash) && !synced.journal.deletionOf(standing.id)) {',
        replace: 'if (standing?.hash.equals(hash)) {',
      },
    ],
    why: 'a file that comes back is linked to an image that may be gone',
    seed: 1_000_000_001,
  },
  {
    name: 'no settling',
    edits: [
      {
        file: 'sync/settled-picture.ts',
        find: 'if (age >= settleMs) return first',
        replace: 'if (settleMs >= 0) return first',
      },
    ],
    why: 'a picture is sent while somebody writes it',
    seed: 28,
  },
  {
    name: 'resend before the end of the credential',
    edits: [
      {
        file: 'sync/credential-life.ts',
        find: 'return credentialLifetimeMs * 1.2 + 1000',
        replace: 'return credentialLifetimeMs * 0',
      },
    ],
    why: 'an upload that is served late arrives beside the second one',
    seed: 63,
  },
  {
    name: 'one walk for two',
    edits: [{ file: 'sync/recovery.ts', find: 'const WALKS = 2', replace: 'const WALKS = 1' }],
    why: 'a walk misses what moves from page to page while others change the album',
    seed: 1_000_000_002,
  },
  {
    name: 'half a listing is a whole one',
    edits: [
      {
        file: 'sync/walk.ts',
        find: 'const complete = images.size === total_images && atFirst === total_images',
        replace: 'const complete = images.size >= 0 && atFirst !== null',
      },
    ],
    why: 'what a torn walk does not show is sent again',
    seed: 13_007,
  },
  {
    name: 'an album is made again at once',
    edits: [
      {
        file: 'sync/album-maker.ts',
        find: "if (created.failure.remedy !== 'find_out') await commit(() => journal.close(intent))",
        replace: 'await commit(() => journal.close(intent))',
      },
    ],
    why: 'an album whose answer was lost gets a twin',
    seed: 535,
  },
  {
    name: 'adopt by name alone',
    edits: [
      {
        file: 'sync/likeness.ts',
        find: 'return dimensionsFit(listed, picture) && (listed.size === undefined || sizeFits(listed.size, picture.size))',
        replace: 'return dimensionsFit({ id: listed.id }, picture) && sizeFits("", picture.size)',
      },
    ],
    why: 'a picture is taken for an image of other dimensions',
    seed: 77,
  },
  {
    name: 'a listed folder has no record before its own look',
    edits: [
      {
        file: 'sync/scan.ts',
        find: '      this.#folder(child)\n      this.#queue.push([child])\n',
        replace: '      this.#queue.push([child])\n',
      },
    ],
    why: 'an end between the two looks loses the folder',
    seed: 5,
  },
  {
    name: 'the root is not looked at before a picture is sent',
    edits: [
      {
        file: 'sync/upload.ts',
        find: 'if (!job.isSameGround()) return',
        replace: 'if (!job.isSameGround) return',
      },
    ],
    why: 'a picture of another disk is sent',
    seed: 33_760,
  },
  {
    name: 'a linked image is deleted unproved',
    edits: [
      {
        file: 'sync/give-up.ts',
        find: "if (image.proof !== 'none' || state === 'approved') return null",
        replace: "if (state !== 'held') return null",
      },
    ],
    why: "another person's image of the same name goes",
    seed: 1900,
  },
  {
    name: 'albums are not looked into before the first upload',
    edits: [
      {
        file: 'sync/upload.ts',
        find: 'const looked = await contents.lookAt(this.#parts, album, signal)',
        replace: 'const looked = { ok: true } as Awaited<ReturnType<typeof contents.lookAt>>',
      },
    ],
    why: 'a lost state sends everything again',
    seed: 1,
  },
  {
    name: 'the upload does not come before the deletion',
    edits: [
      {
        file: 'sync/folder-records.ts',
        find: '    files.put(file)\n    if (file.image === null) return\n    escrow.takeBack(file.image)\n',
        replace:
          "    files.put(file)\n    if (file.image === null) return\n    if (file.state === 'pending') escrow.put({ image: file.image, mirror: this.#parts.mirror, path: file.name, reason: 'superseded', state: 'grace', since: 0, due_at: 0 })\n    if (file.state === 'pending') files.put({ ...file, image: null })\n    if (file.state === 'pending') return\n    escrow.takeBack(file.image)\n",
      },
    ],
    why: 'a changed file has no image for a while',
    seed: 71,
  },
  {
    name: 'an album goes whole, wherever its pictures are',
    edits: [
      {
        file: 'sync/whole-albums.ts',
        find: 'if (!shown || whole.images.some(image => whyStays(parts, image))) continue',
        replace: 'if (!shown) continue',
      },
      {
        file: 'sync/whole-albums.ts',
        find: '() => !images.some(image => whyStays(parts, image))',
        replace: '() => true',
      },
    ],
    why: 'a picture is back, or its place was not looked at again',
    seed: 1_100_081,
  },
  {
    name: 'an album goes whole, whatever else is in it',
    edits: [
      {
        file: 'sync/whole-albums.ts',
        find: 'if (!shown || whole.images.some(image => whyStays(parts, image))) continue',
        replace: 'if (whole.images.some(image => whyStays(parts, image))) continue',
      },
    ],
    why: "another person's image goes with the album",
    seed: 1_110_916,
  },
  {
    name: "another mirror's root is not looked at before each deletion",
    edits: [
      {
        file: 'sync/pass.ts',
        find: 'const doubt = () => ground.doubtOfAny()',
        replace: 'const doubt = () => ground.doubt(mirror)',
      },
    ],
    why: 'a picture may have gone to the mirror whose root was just replaced',
    seed: 3,
  },
  {
    name: 'what a lost state had sent is not waited for',
    edits: [
      {
        file: 'sync/upload.ts',
        find: 'if (lostAt(this.#parts.synced) !== null) return mayArrive',
        replace: 'void lostAt, mayArrive',
      },
    ],
    why: 'a picture whose upload arrives late is sent twice',
    seed: 77,
  },
  {
    name: 'a deletion goes again without another look',
    edits: [
      {
        file: 'sync/give-up.ts',
        find: '() => whyStays(parts, image) === null',
        replace: '() => true',
      },
    ],
    why: 'a picture came back while the host was in trouble',
    seed: 86,
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
]
