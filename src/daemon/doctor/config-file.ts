import { statSync } from 'node:fs'
import type { Config } from '../../config/schema.ts'
import { shellWord } from '../../sync/shell-word.ts'
import { type Finding, pass, warn } from './finding.ts'

/** Who else may change or read the config's file: it holds commands, and may hold an address that is a secret. */
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
