import type { Config } from '../config/schema.ts'

export interface LogLevelArgs {
  'log-level': Config['log']['level'] | undefined
}

/** `--log-level`, on all commands. */
export const logLevelOption = {
  'log-level': {
    choices: ['error', 'warn', 'info', 'debug'],
    describe: 'How much run logs, instead of log.level; debug shows the stacks of errors',
  },
} as const
