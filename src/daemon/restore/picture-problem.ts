import { join } from 'node:path'
import { RESTORE_FOLDER } from '../../local/look.ts'

export type MissingCode =
  | 'NOT_ON_HOST'
  /** The picture could not be uploaded, and albumd does not try again by itself. */
  | 'UPLOAD_FAILED'
  | 'NO_ADDRESS'
  | 'NOT_FOUND'
  | 'OTHER_BYTES'
  | 'HOST_ADDRESS'
  | 'HOST_UNREACHABLE'
  | 'HOST_TLS'
  | 'HOST_ANSWER'
  | 'HOST_REDIRECT'
  /** The picture's recorded path leads out of the folder that is filled. */
  | 'UNSAFE_NAME'
  | 'IN_THE_WAY'
  /** What has the picture's place can't be read, and may be the picture. It counts as unread, not as missing. */
  | 'NOT_READ'
  | 'NOT_WRITTEN'

export class PictureProblem extends Error {
  override name = 'PictureProblem'
  readonly code: MissingCode
  /** Whether the host or the network failed. Then the next picture may fail too. */
  readonly isOutage: boolean

  constructor(code: MissingCode, message: string, isOutage = false) {
    super(message)
    this.code = code
    this.isOutage = isOutage
  }
}

/** Errors after which a disk takes no more pictures. */
const STOPS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; make room there',
  EDQUOT: 'your share of the disk is used up; make room there',
  EROFS: 'the disk is mounted read-only; find out why',
  EIO: 'the disk reports an error; check the disk',
  ENOENT: 'the folder was removed or replaced during the restore; find out why',
}

const WORDS: Readonly<Record<string, string>> = {
  ENAMETOOLONG: 'its name is too long for this disk',
  EINVAL: 'this disk does not accept such a name',
  EILSEQ: 'this disk does not accept such a name',
  EFBIG: 'it is too large for this disk',
  EXDEV: 'its folder is on another disk; restore that folder by itself',
}

/** Why an error with this code means that the disk takes no more pictures. Null: the disk may take others. */
export function diskRefuses(root: string, code = ''): string | null {
  const stops = STOPS[code]
  return stops === undefined
    ? null
    : `${root}: ${stops}, then run the same command again: it goes on where it was`
}

/** The error as one picture's problem, or as the end of the restore when the disk refuses `root`. Throws every other error. */
export function diskProblem(error: unknown, root: string): Error {
  if (error instanceof PictureProblem) return error
  const { code, path, dest } = error as NodeJS.ErrnoException & { dest?: string }
  if (!(error instanceof Error) || typeof code !== 'string' || !('syscall' in error)) throw error
  const at = dest ?? path
  const isOwn = at === undefined || at === root || at.startsWith(join(root, RESTORE_FOLDER))
  const stops = isOwn ? diskRefuses(root, code) : null
  if (stops !== null) return new Error(stops)
  const why =
    WORDS[code] ??
    (STOPS[code] && `${at}: ${STOPS[code]}`) ??
    `${at ?? 'The file'} can't be written. Check it, its permissions and those of its folder`
  return new PictureProblem('NOT_WRITTEN', `${why} (${code})`)
}
