import type { MissingCode } from './restore-event.ts'

/** One picture can't be put where it belongs. */
export class PlaceProblem extends Error {
  override name = 'PlaceProblem'
  readonly code: MissingCode

  constructor(code: MissingCode, message: string) {
    super(message)
    this.code = code
  }
}

/** The folder can't be filled any further, whichever picture is next. */
export class FolderStopped extends Error {
  override name = 'FolderStopped'
}

const STOPS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; make room there',
  EDQUOT: 'your share of the disk is used up; make room there',
  EROFS: 'the disk can only be read; see why',
  EIO: 'the disk fails; look at its health',
  ENOENT: 'the folder was removed or replaced meanwhile; see why',
}

const WORDS: Readonly<Record<string, string>> = {
  ENAMETOOLONG: 'its name is too long for this disk',
  EINVAL: 'this disk does not take such a name',
  EILSEQ: 'this disk does not take such a name',
  EACCES: 'its folder may not be written to',
  EPERM: 'its folder may not be written to',
  EFBIG: 'it is too large for this disk',
  EXDEV: 'its folder is on another disk',
}

/** An error of the file system, as what it means for the picture or for all. Others are thrown as they are. */
export function diskProblem(error: unknown, root: string): Error {
  if (error instanceof PlaceProblem || error instanceof FolderStopped) return error
  const { code } = error as NodeJS.ErrnoException
  if (!(error instanceof Error) || typeof code !== 'string' || !('syscall' in error)) throw error
  const stops = STOPS[code]
  if (stops)
    return new FolderStopped(`${root}: ${stops}, then run the same command again: it goes on where it was`)
  return new PlaceProblem('NOT_WRITTEN', `${WORDS[code] ?? "it can't be written"} (${code})`)
}
