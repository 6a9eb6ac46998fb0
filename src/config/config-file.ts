import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, unplaced } from './config-error.ts'
import { readBounded, realPathOf, xdgFolder } from './paths.ts'

const LARGEST = 2 ** 16

/** The config that `--config` or $ALBUMD_CONFIG names, or the first that exists of ./albumd.yaml,
 * $XDG_CONFIG_HOME/albumd/config.yaml and /etc/albumd/config.yaml. Throws ConfigError when none exists. */
export function findConfig(env: NodeJS.ProcessEnv, cwd: string, flag?: string): string {
  const named = flag ?? env.ALBUMD_CONFIG
  if (named) return named
  const personal = xdgFolder(env.XDG_CONFIG_HOME, '.config', env)
  const paths = [
    join(cwd, 'albumd.yaml'),
    ...(personal ? [join(personal, 'albumd', 'config.yaml')] : []),
    '/etc/albumd/config.yaml',
  ]
  const found = paths.find(exists)
  if (found) return found
  const remedy = '"albumd init" writes one, or name yours with --config'
  throw new ConfigError([unplaced(null, null, `No config in ${paths.join(', ')}. ${remedy}`)])
}

/** Whether a file exists. A file that can't be looked at counts as existing, because reading it will tell why. */
function exists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

export function readConfigText(file: string): string {
  const refusal = (message: string) => new ConfigError([unplaced(file, null, message)])
  const missing = 'no such file. "albumd init" writes one, and config.example.yaml shows what belongs in it'
  const { bytes } = readBounded(file, LARGEST, missing, refusal)
  if (bytes.length > LARGEST) throw refusal(`is over ${LARGEST} bytes, and no config is`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refusal('is not UTF-8 text')
  }
}

/** Whether the daemon has another config than `file`. `taken`: the daemon's; null: not known. */
export function isAnother(taken: string | null, file: string): boolean {
  return taken !== null && realPathOf(taken) !== realPathOf(file)
}

/** What to do where a daemon runs with another config than `file`: stop or reload it. Null: the daemon itself asks. */
export function otherConfigRemedy(
  daemon: {
    pid?: number | null
    config_file?: string | null
    config_needs_stop?: boolean
    config_refused?: string | null
    other_config?: boolean
  },
  file: string | null,
): string | null {
  const { pid = null, config_file: taken = null } = daemon
  if (file !== null && isAnother(taken, file)) return `Name the one that it runs with: ${taken}`
  if (daemon.config_needs_stop && (daemon.other_config || file === null)) return null
  const again =
    file === null && daemon.config_refused
      ? 'Correct it, and let albumd read it again'
      : 'Let it read the config again'
  return `${again}${pid === null ? '' : `: ${reloadCommand(pid)}`}`
}

/** What has a daemon read its config again. `cgroup`: the process's, which names its unit where systemd has started it. */
export function reloadCommand(pid: number, cgroup = cgroupOf(pid)): string {
  const unit = /\/(albumd(?:@[\w.]+)?)\.service$/m.exec(cgroup)?.[1]
  const whose = cgroup.includes('/user@') ? ' --user' : ''
  return unit ? `systemctl${whose} reload ${unit}` : `kill -HUP ${pid}`
}

function cgroupOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch {
    return ''
  }
}
