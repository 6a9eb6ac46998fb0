import { closeSync, constants, openSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import type { SpokenEvent } from '../../sync/pass-events.ts'

/**
 * The control socket speaks HTTP. `POST /commands/<name>` with an Asking is answered with 200 and lines of JSON, or with
 * another status and a Refusal. Both ends have the same version, so results and events are not validated.
 */
export const asking = z.strictObject({
  version: z.string(),
  /** See `fingerprintOf`. */
  config: z.string(),
  request: z.unknown(),
})

export type Asking = z.infer<typeof asking>

/** One line of an answer. The last one is `done` or `failed`. */
export type Line =
  /** The daemon begins with the command. */
  | { begun: true }
  | { told: SpokenEvent }
  | { say: string }
  | { progress: { done: number; albums: number } }
  | { done: unknown }
  | { failed: Refusal }

/** An error as it goes over the socket. `code` null: nobody expects the error. */
export interface Refusal {
  code: string | null
  message: string
}

export function refusalOf(error: unknown): Refusal {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return { code: typeof code === 'string' ? code : null, message: String(message ?? error) }
}

/** The longest path of a Unix socket in bytes. The system's sockaddr_un has no room for more. */
const LONGEST = process.platform === 'linux' ? 107 : 103

/** A path by which a socket can be bound or reached. */
export interface SocketPath {
  path: string
  release(): void
}

/**
 * A path to the socket that is short enough for the system. For a longer path its folder is opened, and Linux shows an
 * open folder as /proc/self/fd/N. On other systems a longer path is an error.
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
