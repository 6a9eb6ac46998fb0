import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readApiKey } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { shellWord } from '../../words/shell-word.ts'
import { type Finding, pass, warn } from './finding.ts'

/**
 * Whether other users can change or read the config file. The file names commands that albumd runs, and the address of
 * its heartbeat may be a secret.
 */
export function checkConfigFile(file: string, { notify }: Pick<Config, 'notify'>): Finding[] {
  if (process.platform === 'win32') return [pass('config', file)]
  const { mode } = statSync(file)
  const findings: Finding[] = []
  if ((mode & 0o022) !== 0)
    findings.push(
      warn(
        'config',
        `${file}: other users can change it, and with it what albumd runs and deletes`,
        `chmod go-w ${shellWord(file)}`,
      ),
    )
  if ((mode & 0o004) !== 0 && notify.heartbeat !== undefined)
    findings.push(
      warn(
        'config',
        `${file}: other users can read it, and notify.heartbeat is a secret`,
        `chmod o-r ${shellWord(file)}`,
      ),
    )
  return findings.length > 0 ? findings : [pass('config', `${file}: no mistakes`)]
}

/**
 * The API key as albumd finds it. Where neither config nor environment has a key, this is the file `api-key` beside the
 * config: the service's unit has systemd hand that file to albumd. `file`: the config file. `key` null: only the service
 * may read the key. Throws ConfigError.
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
    // The file is opened, because access(2) asks for the real user, and sudo may have changed the effective one alone.
    closeSync(openSync(file, 'r'))
    return true
  } catch {
    return false
  }
}
