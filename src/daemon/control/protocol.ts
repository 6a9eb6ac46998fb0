import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'

/**
 * The control socket speaks HTTP: `POST /commands/<name>` with an Asking is answered with 200 and lines of JSON, or
 * with another status and a Refusal. Both ends are of the same version, so results and events are not checked again.
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
  /** The command begins. */
  | { begun: true }
  | { told: SpokenEvent }
  | { say: string }
  | { progress: { done: number; albums: number } }
  | { done: unknown }
  | { failed: Refusal }

/** An error for the other end. `code` null: unexpected. */
export interface Refusal {
  code: string | null
  message: string
}

export function refusalOf(error: unknown): Refusal {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return { code: typeof code === 'string' ? code : null, message: String(message ?? error) }
}

/** A hash that is equal for configs under which a command does the same. */
export function fingerprintOf(config: Config): string {
  const { log, status_page, ...obeyed } = config
  return createHash('sha256').update(JSON.stringify(obeyed)).digest('hex')
}
