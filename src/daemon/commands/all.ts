import { adoptCommand } from './adopt.ts'
import { auditCommand } from './audit.ts'
import type { Command } from './command.ts'
import { deletionsCommand } from './deletions.ts'
import { pauseCommand, resumeCommand } from './pause.ts'
import { retryCommand } from './retry.ts'
import { syncCommand } from './sync.ts'
import { trustCommand } from './trust.ts'

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
