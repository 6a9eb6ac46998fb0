/** Why a HEIC could not be converted, and whether the same file is tried again.
 * not_whole: it is cut off, has a hole, or something follows. not_understood: the library refuses it, or something of it would
 * be lost. hdr: a JPEG can't show its brightness. too_large: it has more pixels or bytes than are decoded. no_library: libheif
 * or sharp is not there, or too old. changed: the file is not the one that was to be converted, or can't be read. no_room: the
 * disk took no JPEG. too_slow, ended: what happened to the process, perhaps because others took its time or memory. */
export const HEIC_PROBLEMS = {
  not_whole: { again: false },
  not_understood: { again: false },
  hdr: { again: false },
  too_large: { again: false },
  no_library: { again: true },
  changed: { again: true },
  no_room: { again: true },
  too_slow: { again: true },
  ended: { again: true },
} as const satisfies Record<string, { again: boolean }>

export type HeicProblemCode = keyof typeof HEIC_PROBLEMS

export class HeicProblem extends Error {
  override name = 'HeicProblem'
  readonly code: HeicProblemCode

  /** `detail`: what exactly, as the library or the system says it. */
  constructor(code: HeicProblemCode, detail: string) {
    super(detail)
    this.code = code
  }
}
