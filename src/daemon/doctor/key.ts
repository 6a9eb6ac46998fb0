import { closeSync, existsSync, openSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readApiKey } from '../../config/api-key.ts'
import type { Config } from '../../config/schema.ts'
import { type Finding, warn } from './finding.ts'

/**
 * The key as albumd would find it. Where neither config nor environment has one, it is the file beside the config that
 * the service's unit has systemd hand in. `file`: the config's. Throws ConfigError. `key` null: only the service has it.
 */
export function findKey(
  config: Config,
  file: string,
  env: NodeJS.ProcessEnv,
): { key: string | null; findings: Finding[] } {
  const beside = join(dirname(resolve(file)), 'api-key')
  const isHandedIn =
    config.host.api_key_file === undefined &&
    !env.ALBUMD_API_KEY &&
    !env.CREDENTIALS_DIRECTORY &&
    existsSync(beside)
  if (isHandedIn && !mayRead(beside))
    return {
      key: null,
      findings: [
        warn(
          'key',
          `${beside}: this user can't read it, as it should be where systemd hands it to the service; the host was not asked with it`,
          'run the doctor as root too, which asks the host',
        ),
      ],
    }
  const { key, warning } = readApiKey(
    config,
    isHandedIn ? { ...env, CREDENTIALS_DIRECTORY: dirname(beside) } : env,
  )
  return { key, findings: warning ? [warn('key', warning, null)] : [] }
}

function mayRead(file: string): boolean {
  try {
    // access(2) would judge by another user.
    closeSync(openSync(file, 'r'))
    return true
  } catch {
    return false
  }
}
