import { ConfigError } from '../config/config-error.ts'
import { checkFolders } from '../config/folders.ts'
import { readApiKey, readAuthorities } from '../config/host-access.ts'
import type { Config } from '../config/schema.ts'
import type { Access } from '../daemon/engine/engine.ts'

/** The key and authorities for talking to the host. Warnings go to standard error. */
export function readAccess(config: Config): Access {
  const { key, warning } = readApiKey(config, process.env)
  const ca = readAuthorities(config)
  if (warning) process.stderr.write(`albumd: ${warning}\n`)
  return { apiKey: key, ca }
}

/**
 * Throws ConfigError when a mirror's folder is missing or overlaps another folder. `run` does not call this function,
 * because `run` waits for a missing folder.
 */
export function refuseMissingFolders(config: Config): void {
  const problems = checkFolders(config)
  if (problems.length > 0) throw new ConfigError(problems)
}
