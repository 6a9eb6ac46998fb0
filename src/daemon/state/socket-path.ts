import { closeSync, constants, openSync } from 'node:fs'
import { createConnection } from 'node:net'
import { basename, dirname, join } from 'node:path'

/** The longest path of a Unix socket in bytes. The system's sockaddr_un has no room for more. */
const LONGEST = process.platform === 'linux' ? 107 : 103

/** A path by which a socket can be bound or reached. */
export interface SocketPath {
  path: string
  release(): void
}

/** A path that is short enough for the system: on Linux by /proc/self/fd/N. Elsewhere a longer path is an error. */
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

/** Whether a process listens at this socket. A process that was killed leaves its socket behind, and nobody listens there. */
export function isListening(file: string): Promise<boolean> {
  return new Promise(resolve => {
    const { path, release } = openSocketPath(file)
    const socket = createConnection(path)
    const end = (listens: boolean) => {
      socket.destroy()
      release()
      resolve(listens)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
}
