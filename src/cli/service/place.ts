import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { xdgFolder } from '../../config/paths.ts'
import { PACKAGE_FOLDER } from '../../daemon/package.ts'
import { EXIT, Problem } from '../problem.ts'
import { runTool } from './systemctl.ts'

export interface ServicePlace {
  user: boolean
  /** When the service starts, for a person. */
  starts: 'when you log in' | 'with the machine'
  unit: string
  template: string
  /** The path of the unit's file. The file below PACKAGED belongs to Debian's package, and stays as it is. */
  file: string
  config: string
  /** The path of the key's file. systemd passes the key to the service. */
  key: string
  /** For a service of the machine: the folder that the service may write to. */
  stateDir: string | null
}

const TEMPLATES = join(PACKAGE_FOLDER, 'systemd')

export const PACKAGED = '/usr/lib/systemd'
/** Debian's package brings a Node.js that runs nothing else, so its command line is one word. */
const isPackaged = process.execPath === join(PACKAGE_FOLDER, 'bin/node')

function unitFile(folder: string, below: 'system' | 'user', name: string): string {
  const file = join(folder, name)
  return isPackaged && !existsSync(file) ? join(PACKAGED, below, name) : file
}

/** `account`: the name of one of the machine's services, or null. Throws Problem when $HOME is needed and not set. */
export function servicePlace(user: boolean, account: string | null, env: NodeJS.ProcessEnv): ServicePlace {
  const own = xdgFolder(env.XDG_CONFIG_HOME, '.config', env)
  if (user && own === null) throw new Problem('$HOME is not set. Set it to your home folder')
  if (user && own !== null)
    return {
      user: true,
      starts: 'when you log in',
      unit: 'albumd.service',
      template: join(TEMPLATES, 'albumd-user.service'),
      file: unitFile(join(own, 'systemd/user'), 'user', 'albumd.service'),
      config: join(own, 'albumd/config.yaml'),
      key: join(own, 'albumd/api-key'),
      stateDir: null,
    }
  const name = account === null ? 'albumd.service' : 'albumd@.service'
  const below = account === null ? '' : `/${account}`
  return {
    user: false,
    starts: 'with the machine',
    unit: account === null ? name : `albumd@${account}.service`,
    template: join(TEMPLATES, name),
    file: unitFile('/etc/systemd/system', 'system', name),
    config: `/etc/albumd${below}/config.yaml`,
    key: `/etc/albumd${below}/api-key`,
    stateDir: `/var/lib/albumd${below}`,
  }
}

export function thisProgram(): string[] {
  return isPackaged ? ['/usr/bin/albumd'] : [process.execPath, resolve(process.argv[1]!)]
}

/** The command in the templates, in whose place the command line of this albumd is written. */
const PLACEHOLDER = 'ExecStart=/usr/bin/albumd '

/** The unit's text from a template. `program`: the command line of albumd. Throws when the template lacks PLACEHOLDER. */
export function unitText(template: string, program: readonly string[]): string {
  const text = readFileSync(template, 'utf8')
  if (!text.includes(PLACEHOLDER)) throw new Error(`${template} does not run /usr/bin/albumd`)
  return text.replace(PLACEHOLDER, () => `ExecStart=${program.map(quoted).join(' ')} `)
}

/** Escapes a word of a command line for systemd, where % begins a specifier and $ a variable. */
function quoted(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w@%+=:,./-]+$/.test(escaped) ? escaped : `"${escaped.replace(/["\\]/g, '\\$&')}"`
}

/** Whether the unit's file is as this albumd would write it. */
export function isCurrent({ file, template }: ServicePlace): boolean {
  return existsSync(file) && readFileSync(file, 'utf8') === unitText(template, thisProgram())
}

export const SERVICE_USER = 'albumd'

/** Makes the user when it does not exist. Returns whether it was made. Throws Problem when this fails. */
export function makeServiceUser(): boolean {
  if (runTool('getent', ['passwd', SERVICE_USER])?.code === 0) return false
  const ended = runTool('systemd-sysusers', [join(TEMPLATES, 'sysusers.conf')])
  if (ended?.code === 0) return true
  const why = ended === null ? 'there is no systemd-sysusers' : ended.err
  throw new Problem(
    `The user ${SERVICE_USER} can't be made (${why}). Make it (useradd --system ${SERVICE_USER}), then run this again`,
    EXIT.unexpected,
  )
}

/** Whether the user may read a file, or list a folder and look at its entries. Groups and ACLs count. */
export function serviceUserCanRead(path: string): boolean {
  const who = [`--reuid=${SERVICE_USER}`, `--regid=${SERVICE_USER}`, '--init-groups', '--reset-env']
  const look = 'test -r "$0" && { test ! -d "$0" || test -x "$0"; }'
  const ended = runTool('setpriv', [...who, 'sh', '-c', look, path])
  // When no tool can tell, the result is true: the service itself will report an unreadable file.
  return ended === null || ended.code === 0
}
