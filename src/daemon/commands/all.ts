import { z } from 'zod'
import { type Pause, pause, pauseAt, resume } from '../state/pause.ts'
import { auditCommand } from './audit.ts'
import type { Command } from './command.ts'
import { deletionsCommand } from './deletions.ts'
import { adoptCommand, retryCommand, syncCommand } from './sync.ts'
import { trustCommand } from './trust.ts'

/** `forMs`: null is until `resume`. */
export const pauseCommand: Command<{ forMs: number | null }, Pause> = {
  request: z.strictObject({ forMs: z.int().min(0).nullable() }),
  atOnce: true,
  async carryOut({ synced }, { forMs }) {
    const until = forMs === null ? null : Date.now() + forMs
    await pause(synced, until)
    return { until }
  },
}

/** `paused`: the pause that held. */
export const resumeCommand: Command<object, { paused: Pause | null }> = {
  request: z.strictObject({}),
  atOnce: true,
  async carryOut({ synced }) {
    const paused = pauseAt(synced, Date.now())
    await resume(synced)
    return { paused }
  },
}

/** The commands that act on the state. The daemon carries them out where one runs, else the command line does. */
export const commands = {
  sync: syncCommand,
  retry: retryCommand,
  audit: auditCommand,
  adopt: adoptCommand,
  deletions: deletionsCommand,
  trust: trustCommand,
  pause: pauseCommand,
  resume: resumeCommand,
}

export type CommandName = keyof typeof commands
export type RequestOf<N extends CommandName> = Parameters<(typeof commands)[N]['carryOut']>[1]
export type ResultOf<N extends CommandName> = Awaited<ReturnType<(typeof commands)[N]['carryOut']>>

/** The command of this name. Null: there is none. */
export function commandNamed(name: string): Command<unknown, unknown> | null {
  return Object.hasOwn(commands, name) ? (commands[name as CommandName] as Command<unknown, unknown>) : null
}
