import { z } from 'zod'
import type { SpokenEvent } from '../../sync/pass-events.ts'

/** The body of `POST /commands/<name>`. The answer is lines of JSON, or another status with a Refusal. Both ends are of one
 * version. */
export const asking = z.strictObject({
  version: z.string(),
  config: z.string(),
  request: z.unknown(),
})

export type Asking = z.infer<typeof asking>

export type Line =
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

export function asRefusal(error: unknown): Refusal {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return { code: typeof code === 'string' ? code : null, message: String(message ?? error) }
}
