import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/**
 * Reads a small file and its permission bits. At most `most` + 1 bytes are read, because the path may name a device without
 * an end. `refusal`: the error where the file can't be read. `missing`: its words where there is no file.
 */
export function readBounded(
  file: string,
  most: number,
  missing: string,
  refusal: (message: string) => Error,
): { bytes: Buffer; mode: number } {
  let descriptor: number | null = null
  try {
    descriptor = openSync(file, 'r')
    const { mode } = fstatSync(descriptor)
    const bytes = Buffer.alloc(most + 1)
    let filled = 0
    // A pipe may give fewer bytes than were asked for.
    for (let count = -1; count !== 0 && filled < bytes.length; filled += count)
      count = readSync(descriptor, bytes, filled, bytes.length - filled, null)
    return { bytes: bytes.subarray(0, filled), mode }
  } catch (error) {
    throw refusal(unreadable((error as NodeJS.ErrnoException).code, missing))
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

/** What a person reads when a file or folder can't be read. `code`: the system's error code. `missing`: where it is not there. */
export function unreadable(code: string | undefined, missing = 'is not there'): string {
  if (code === 'ENOENT') return missing
  if (code === 'EISDIR') return 'is a folder; name the file in it'
  return `can't be read (${code}); ${REMEDIES[code ?? ''] ?? 'look at the disk that it is on'}`
}

const PERMIT = 'let the user that albumd runs as read it (chmod, chown or setfacl)'
const NO_FILES = 'too many files are open: raise the limit (ulimit -n; LimitNOFILE= for a service)'

const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: PERMIT,
  EPERM: PERMIT,
  ELOOP: 'links on the way to it lead in a circle: put them right',
  EMFILE: NO_FILES,
  ENFILE: NO_FILES,
  ENAMETOOLONG: 'its path is longer than this system takes: name a shorter one',
  ENOTDIR: 'something on the way to it is no folder: name another path',
}
