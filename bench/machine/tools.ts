import { spawnSync } from 'node:child_process'

/** What stands beside albumd, and what measures. */
export interface Tool {
  name: string
  /** Debian's package. */
  package: string
  version: readonly string[]
  /** What in the version's output is the version. */
  shown: RegExp
}

export const TOOLS: readonly Tool[] = [
  { name: 'time', package: 'time', version: ['time', '--version'], shown: /GNU Time\)? ([\d.]+)/ },
  { name: 'find', package: 'findutils', version: ['find', '--version'], shown: /([\d.]+)/ },
  { name: 'rclone', package: 'rclone', version: ['rclone', 'version'], shown: /rclone v(\S+)/ },
  { name: 'curl', package: 'curl', version: ['curl', '--version'], shown: /curl (\S+)/ },
  { name: 'syncthing', package: 'syncthing', version: ['syncthing', '--version'], shown: /syncthing v(\S+)/ },
  { name: 'rsync', package: 'rsync', version: ['rsync', '--version'], shown: /version (\S+)/ },
  { name: 'unison', package: 'unison', version: ['unison', '-version'], shown: /version (\S+)/ },
  { name: 'lsyncd', package: 'lsyncd', version: ['lsyncd', '--version'], shown: /Version: (\S+)/ },
  {
    name: 'redis-server',
    package: 'redis-server',
    version: ['redis-server', '--version'],
    shown: /v=(\S+)/,
  },
  { name: 'strace', package: 'strace', version: ['strace', '--version'], shown: /version (\S+)/ },
  { name: 'cc', package: 'gcc libc6-dev', version: ['cc', '--version'], shown: /(\d+\.\d+\.\d+)/ },
]

/** What installs them. */
const APT_GET: Tool = {
  name: 'apt-get',
  package: 'apt',
  version: ['apt-get', '--version'],
  shown: /apt (\S+)/,
}

/** The tools that are there, each with its version. */
export type Tools = ReadonlyMap<string, string>

/** Finds the tools; installs missing ones from Debian where this process may. Without `time` the others do not matter. */
export function findTools(say: (line: string) => void): Tools {
  const missing = TOOLS.filter(tool => versionOf(tool) === null)
  const canInstall = versionOf(APT_GET) !== null
  if (missing.length > 0 && canInstall) install(missing, say)
  const found = new Map<string, string>()
  for (const tool of TOOLS) {
    const version = versionOf(tool)
    if (version !== null) found.set(tool.name, version)
  }
  const names = TOOLS.map(({ name }) => name).filter(name => !found.has(name))
  if (names.length === 0 || !found.has('time')) return found
  const how = canInstall ? '' : ' (there is no apt-get here: install by hand)'
  say(`missing, so that what needs it is left out: ${names.join(', ')}${how}`)
  return found
}

function versionOf({ version: [command, ...args], shown, package: name }: Tool): string | null {
  const { status, stdout, stderr } = spawnSync(command!, args, { encoding: 'utf8' })
  if (status !== 0) return null
  return shown.exec(stdout + stderr)?.[1] ?? versionOfPackage(name) ?? 'unknown version'
}

/** Debian's GNU time does not know its own. */
function versionOfPackage(name: string): string | null {
  const { status, stdout } = spawnSync('dpkg-query', ['--show', name], { encoding: 'utf8' })
  return status === 0 ? stdout.trim().split('\t')[1]! : null
}

function install(missing: readonly Tool[], say: (line: string) => void): void {
  const packages = missing.flatMap(tool => tool.package.split(' '))
  say(`apt-get installs ${packages.join(', ')}`)
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '--non-interactive']
  const quiet = ['--quiet=2', '--yes', '--no-install-recommends']
  for (const args of [
    ['update', '--quiet=2'],
    ['install', ...quiet, ...packages],
  ]) {
    const line = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args]
    const { status, error } = spawnSync(line[0]!, line.slice(1), { stdio: 'ignore' })
    if (status !== 0) {
      say(`apt-get ${args[0]} did not work (${error?.message ?? `it ended with ${status}`})`)
      return
    }
  }
}
