import { closeSync, constants, openSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** What fits into an address of a Unix socket, in bytes: sockaddr_un has so many and a zero. */
const LONGEST = process.platform === 'linux' ? 107 : 103

/** A path by which a socket can be bound or reached. */
export interface SocketPath {
  path: string
  release(): void
}

/**
 * The socket by a path that is short enough. A longer one is reached through its folder, held open: Linux has that as
 * /proc/self/fd/N. Throws where that does not help.
 */
export function openSocketPath(file: string): SocketPath {
  if (Buffer.byteLength(file) <= LONGEST) return { path: file, release() {} }
  if (process.platform !== 'linux')
    throw new Error(`${file}: the path is too long for a socket; name a shorter state_dir`)
  const folder = openSync(dirname(file), constants.O_RDONLY | constants.O_DIRECTORY)
  return {
    path: join('/proc/self/fd', String(folder), basename(file)),
    release: () => closeSync(folder),
  }
}
