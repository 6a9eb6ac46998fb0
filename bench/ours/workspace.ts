import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { KEY } from '../hosts/observed-host.ts'
import { type RunOptions, type TimedRun, timedRun } from '../measure/timed-run.ts'
import { type Daemon, startDaemon } from './daemon.ts'

/** The program as it is shipped: `npm run build` makes it. */
export const PROGRAM = join(import.meta.dirname, '../../dist/cli/albumd.js')

export interface WorkspaceOptions {
  /** Everything that albumd keeps goes below it. */
  home: string
  baseUrl: string
  /** The mirrored folder. */
  folder: string
  /** One that the host knows by default. */
  key?: string
  /** Whether the host's limits are kept to, deletions aside; else as much is asked as goes. */
  limited?: boolean
  /** Of the config's `uploads` and `watch`. */
  uploads?: object
  watch?: object
}

/** albumd with a config of its own. */
export interface Workspace {
  home: string
  state: string
  albumd(args: readonly string[], options?: RunOptions): Promise<TimedRun>
  /** As the service's unit starts it. */
  daemon(): Daemon
}

const UNLIMITED = {
  upload: 'unlimited',
  send: 'unlimited',
  list: 'unlimited',
  delete: 'unlimited',
  create_album: 'unlimited',
}

export function openWorkspace(options: WorkspaceOptions): Workspace {
  const { home, baseUrl, folder, key = KEY, limited = false, uploads = {}, watch = {} } = options
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'api-key'), key, { mode: 0o600 })
  const config = join(home, 'albumd.yaml')
  const host = {
    base_url: baseUrl,
    api_key_file: 'api-key',
    plan: 'flagship',
    // What is measured may take more than a day's.
    daily_quota: 1_000_000,
    // Deletions are never measured: they only clear away what a measurement leaves.
    requests_per_second: limited ? { delete: 'unlimited' } : UNLIMITED,
  }
  writeFileSync(
    config,
    stringify({
      host,
      mirrors: [{ folder, album: 'Bench' }],
      // What a daemon leaves in grace, the next command would find.
      deletions: { hold_min: 10_000_000, grace: '1s', grace_many: '1s' },
      uploads,
      // The audit that was missed while nothing ran would be made up for.
      watch: { audit: 'off', ...watch },
      state_dir: 'state',
    }),
  )
  const { ALBUMD_CONFIG, ALBUMD_API_KEY, STATE_DIRECTORY, ...rest } = process.env
  const env = { ...rest, HOME: home, NO_COLOR: '1' }
  const line = (args: readonly string[]) => [PROGRAM, ...args, '--config', config]
  return {
    home,
    state: join(home, 'state'),
    albumd: (args, run = {}) =>
      timedRun(process.execPath, line(args), { cwd: home, ...run, env: { ...env, ...run.env } }),
    daemon: () =>
      startDaemon(line(['run', '--log-level', 'warn']), home, { ...env, ...serviceEnvironment() }),
  }
}

/** What the unit that is shipped gives the daemon. */
function serviceEnvironment(): NodeJS.ProcessEnv {
  const unit = readFileSync(join(import.meta.dirname, '../../systemd/albumd.service'), 'utf8')
  return Object.fromEntries(
    [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  )
}
