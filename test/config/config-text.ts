import { parseConfig } from '../../src/config/load-config.ts'
import type { Config } from '../../src/config/schema.ts'

/** A config as short as it can be, and what stands on its lines. */
export const SHORTEST = `host:
  base_url: https://images.example.com/api/v1
mirrors:
  - folder: /srv/photos
    album: Photos
`

/** The shortest config with more keys under `host`, and after its end. */
export function configText({ host = [], rest = '' }: { host?: string[]; rest?: string }): string {
  return SHORTEST.replace('mirrors:', [...host.map(line => `  ${line}`), 'mirrors:'].join('\n')) + rest
}

export function parse(
  text: string,
  env: NodeJS.ProcessEnv = { HOME: '/home/ann' },
  file = '/etc/x/albumd.yaml',
): Config {
  return parseConfig(text, { file, env })
}

/** The lines of the error that a config gives; none where it is right. */
export function problemsOf(text: string, env: NodeJS.ProcessEnv = { HOME: '/home/ann' }): string[] {
  try {
    parseConfig(text, { file: 'albumd.yaml', env })
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}
