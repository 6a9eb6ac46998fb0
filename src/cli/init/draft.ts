import { ConfigError } from '../../config/config-error.ts'
import { configText } from '../../config/example.ts'
import { parseConfig } from '../../config/load-config.ts'

/** The config as far as it is agreed on, as in the file. */
export interface Draft {
  /** Where it is to stand, absolute. */
  file: string
  config: {
    host: { base_url: string; api_key_file?: string; ca_file?: string; plan?: string }
    mirrors: { folder: string; album: string; deletions?: string }[]
  }
}

/** What stands in for what is not agreed on yet. */
const HOST = { base_url: 'https://images.example.com/api/v1' }
const MIRRORS = [{ folder: '/srv/photos', album: 'Photos' }]

/** What is wrong with one key of it, by the same checks that read a config; null where nothing is. */
export function faultIn({ file, config: { host, mirrors } }: Draft, key: string): string | null {
  const config = {
    host: host.base_url === '' ? { ...host, ...HOST } : host,
    mirrors: mirrors.length === 0 ? MIRRORS : mirrors,
  }
  try {
    parseConfig(configText(config, ''), { file, env: process.env })
    return null
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.find(problem => problem.key === key)?.message ?? null
  }
}
