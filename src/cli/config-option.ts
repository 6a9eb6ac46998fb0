import type { Config } from '../config/schema.ts'

/** `--config/-c`, on all commands that need it. */
export const configOption = {
  config: {
    alias: 'c',
    type: 'string',
    requiresArg: true,
    describe: 'The config file; else $ALBUMD_CONFIG, ./albumd.yaml, the user’s, /etc/albumd/config.yaml',
  },
} as const

/** See read-config.ts, whose schema is loaded where a config is read, and not where a help text is. */
export async function readConfig(flag: string | undefined): Promise<Config> {
  const { readConfig } = await import('./read-config.ts')
  return readConfig(flag)
}
