import { z } from 'zod'
import { type Pause, pause, pauseAt, resume } from '../state/pause.ts'
import type { Command } from './command.ts'

/** `forMs`: null is until `resume`. */
export const pauseCommand: Command<{ forMs: number | null }, Pause> = {
  request: z.strictObject({ forMs: z.int().min(0).nullable() }),
  needsHost: false,
  atOnce: true,
  anyConfig: true,
  async carryOut({ synced }, { forMs }) {
    const until = forMs === null ? null : Date.now() + forMs
    await pause(synced, until)
    return { until }
  },
}

/** `paused`: the pause that held. */
export const resumeCommand: Command<object, { paused: Pause | null }> = {
  request: z.strictObject({}),
  needsHost: false,
  atOnce: true,
  anyConfig: true,
  async carryOut({ synced }) {
    const paused = pauseAt(synced, Date.now())
    await resume(synced)
    return { paused }
  },
}
