import { findConfig } from '../config/config-file.ts'
import { loadConfig } from '../config/load-config.ts'
import type { Config } from '../config/schema.ts'
import type { Access } from '../daemon/engine/engine.ts'
import { readAccess } from './access.ts'
import { withRealFolders } from './known-config.ts'

/** The config, with the real paths of its folders. Throws ConfigError. */
export function readConfig(flag: string | undefined): Config {
  return withRealFolders(loadConfig(findConfig(process.env, process.cwd(), flag), process.env))
}

/** The config, and the key and authorities for talking to the host. Warnings go to standard error. */
export function readConfigAndAccess(flag: string | undefined): { config: Config; access: Access } {
  const config = readConfig(flag)
  return { config, access: readAccess(config) }
}
