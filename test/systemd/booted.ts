import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { execute, type Run, type Stage, type StageOptions, setStage } from '../e2e/stage/stage.ts'

const CHECKOUT = join(import.meta.dirname, '../..')
const OWN = ['--fork', '--pid', '--kill-child', '--mount', '--mount-proc', '--cgroup', '--uts', '--ipc']
/** Whatever happens, what was booted is gone by then. */
const LONGEST_S = '600'
/** Each look starts two programs, so there are not too many. */
export const seldom = { interval: 500 }

/** A real systemd needs root, namespaces, and a cgroup of its own. */
export function canBoot(): boolean {
  const tools = ['systemctl', 'systemd-notify', 'systemd-sysusers', 'setpriv']
  const all = tools.every(tool => spawnSync(tool, ['--version']).status === 0)
  const mounts = 'mount --make-rprivate / && mount -t cgroup2 cgroup2 /mnt'
  return all && process.getuid?.() === 0 && spawnSync('unshare', [...OWN, 'sh', '-c', mounts]).status === 0
}

/** A machine of its own, with a stage beside it that both see. */
export interface Booted extends Stage {
  inside(...line: string[]): Promise<Run>
  /** The same, and it must succeed. */
  done(...line: string[]): Promise<string>
  /** `albumd service …` inside. */
  service(...args: string[]): Promise<Run>
  /** A file inside, as this process reaches it. */
  at(path: string): string
  put(path: string, text: string, mode?: number): void
  /** What systemd knows of the service. */
  show<Name extends string>(...names: Name[]): Promise<Record<Name, string>>
  /** Config and key where the unit looks for them. */
  setUp(changes?: object): void
  /** What the service has logged. */
  log(): { event: string; time: string; [field: string]: unknown }[]
  /** What the service has told people on standard error. */
  err(): string
  /** What systemd has said. */
  said(): string
}

/** Boots a systemd. The service logs to a file, and does not wait for a whole machine; `dropIn`: more of its [Service].
 * `system`: the folder of a whole system to be booted, instead of this machine's programs with the checkout. */
export async function boot(
  dropIn: readonly string[] = [],
  options: StageOptions = {},
  system = '',
): Promise<Booted> {
  const stage = await setStage(options)
  chmodSync(stage.home, 0o755)
  const root = join(stage.home, 'root')
  mkdirSync(root)
  const script = join(import.meta.dirname, 'boot.sh')
  const modules = realpathSync(join(CHECKOUT, 'node_modules'))
  const parts = [root, CHECKOUT, modules, realpathSync(process.execPath), stage.home, system]
  const child = spawn('timeout', ['-s', 'KILL', LONGEST_S, 'unshare', ...OWN, 'sh', script, ...parts], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const out of [child.stdout, child.stderr])
    out.on('data', chunk => {
      said += chunk
    })
  const gone = new Promise(resolve => child.once('close', resolve))
  onTestFinished(async () => {
    // Its child goes with it, and everything inside with that.
    for (const pid of childrenOf(child.pid!)) process.kill(pid, 'SIGKILL')
    await gone
  })
  const initPid = () => childrenOf(child.pid!).flatMap(childrenOf)[0]
  const enter = (): string[] => {
    const init = initPid()
    if (init === undefined) throw new Error(`nothing was booted:\n${said}`)
    return ['--target', String(init), '--mount', '--pid', '--uts', '--ipc', '--cgroup', '--root', '--wdns=/']
  }
  const inside = async (...line: string[]) => run('nsenter', [...enter(), ...line])
  await expect
    .poll(async () => (await inside('systemctl', 'show-environment').catch(() => ({ code: 1 }))).code, seldom)
    .toBe(0)
  const at = (path: string) => `/proc/${initPid()}/root${path}`
  const put = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text, { mode })
  }
  const done = async (...line: string[]) => {
    const ended = await inside(...line)
    if (ended.code !== 0)
      throw new Error(`${line.join(' ')} ended with ${ended.code}: ${ended.out}${ended.err}\n${said}`)
    return ended.out
  }
  const unit = '/etc/systemd/system/albumd.service.d/test.conf'
  const log = join(stage.home, 'albumd.log')
  const output = ['StandardOutput=append:/srv/stage/albumd.log', 'StandardError=append:/srv/stage/albumd.err']
  put(unit, ['[Unit]', 'DefaultDependencies=no', '[Service]', ...output, ...dropIn, ''].join('\n'))
  return {
    ...stage,
    inside,
    done,
    service: (...args) => inside('/opt/node', '/opt/albumd/dist/cli/albumd.js', 'service', ...args),
    at,
    put,
    async show(...names) {
      const out = await done('systemctl', 'show', 'albumd.service', `--property=${names.join(',')}`)
      return Object.fromEntries(
        out
          .trim()
          .split('\n')
          .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      ) as never
    },
    setUp(changes = {}) {
      const host = { base_url: stage.baseUrl }
      const mirrors = [{ folder: '/srv/stage/pictures', album: 'Photos' }]
      const usual = { host, mirrors, watch: { settle: '100ms' }, log: { level: 'debug' } }
      put('/etc/albumd/config.yaml', stringify({ ...usual, ...changes }))
      put('/etc/albumd/api-key', stage.key, 0o600)
    },
    log: () => {
      if (!existsSync(log)) return []
      const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1)
      return lines.filter(line => line.startsWith('{')).map(line => JSON.parse(line))
    },
    err: () => readFileSync(join(stage.home, 'albumd.err'), 'utf8'),
    said: () => said,
  }
}

function run(file: string, args: string[]): Promise<Run> {
  return execute(file, args, { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' } })
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return text === '' ? [] : text.split(' ').map(Number)
  } catch {
    return []
  }
}
