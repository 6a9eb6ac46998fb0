import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadConfig } from '../../config/load-config.ts'
import type { Config } from '../../config/schema.ts'
import { printable } from '../../words/text.ts'
import { EXIT, Problem } from '../problem.ts'
import { printLine } from '../terminal/output.ts'
import {
  makeServiceUser,
  PACKAGED,
  SERVICE_USER,
  type ServicePlace,
  serviceUserCanRead,
  thisProgram,
  unitText,
} from './place.ts'
import { runTool, Systemctl } from './systemctl.ts'

/** Installs a unit and starts the service. May be repeated. Returns the exit code. 3: the service can't run yet, because
 * something is missing. */
export function install(place: ServicePlace): number {
  const { user, starts, unit, template } = place
  const program = thisProgram()
  if (program.at(-1)!.includes('/_npx/'))
    throw new Problem(
      'This albumd is in the cache of npx, which may be emptied. Install it, then run it from there',
    )
  const systemctl = openSystemctl(place)
  if (runTool('systemd-notify', ['--version']) === null)
    throw new Problem('There is no systemd-notify. Install it; systemd brings it')
  if (!user) say(makeServiceUser() ? `made the user ${SERVICE_USER}` : `the user ${SERVICE_USER} is there`)
  const changed = putUnit(place, unitText(template, program))
  systemctl.do('daemon-reload')
  const enabled = systemctl.isEnabled(unit)
  if (!enabled) systemctl.do('enable', '--quiet', unit)
  say(`${unit} starts ${starts}${enabled ? '' : ' from now on'}`)
  const { missing, warnings } = readinessOf(place, program)
  for (const line of [...warnings, ...missing]) say(line)
  if (missing.length > 0) {
    say(`not started; when that is done: ${user ? 'systemctl --user' : 'systemctl'} restart ${unit}`)
    return EXIT.left
  }
  start(place, systemctl, changed)
  // A user's services end with the user's last session, unless lingering is enabled.
  if (user) {
    const linger = ['show-user', '--property=Linger', '--value', process.env.USER ?? '']
    if (runTool('loginctl', linger)?.out.trim() !== 'yes')
      say(
        'albumd runs while you are logged in. "loginctl enable-linger" has it run from the start of the machine',
      )
  }
  return EXIT.inSync
}

/** Throws Problem before anything is changed, when a service of the machine needs root or systemd does not answer. */
function openSystemctl({ user }: ServicePlace): Systemctl {
  if (!user && process.getuid?.() !== 0)
    throw new Problem('Only root may do that. Run it with sudo, or with --user for your own')
  return new Systemctl(user)
}

function putUnit({ file }: ServicePlace, text: string): boolean {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null
  if (before !== text) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode: 0o644 })
  }
  say(before === text ? `${file} is there` : before === null ? `wrote ${file}` : `renewed ${file}`)
  return before !== text
}

function start({ unit, user }: ServicePlace, systemctl: Systemctl, changed: boolean): void {
  const runs = systemctl.show(unit, 'ActiveState').ActiveState === 'active'
  if (runs && !changed) {
    say(`${unit} is running`)
    return
  }
  try {
    systemctl.do('restart', unit)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const log = `journalctl ${user ? '--user ' : ''}-u ${unit}`
    throw new Problem(`${unit} did not start. ${log} says why`, EXIT.unexpected)
  }
  say(runs ? `restarted ${unit}` : `started ${unit}`)
}

export function uninstall(place: ServicePlace): number {
  const { unit, file, user } = place
  const systemctl = openSystemctl(place)
  if (!existsSync(file)) {
    say(`${file} is not there: nothing to do`)
    return EXIT.inSync
  }
  const { ActiveState } = systemctl.show(unit, 'ActiveState')
  systemctl.do('disable', '--quiet', '--now', unit)
  say(ActiveState === 'inactive' ? `${unit} was not running` : `stopped ${unit}`)
  const others = unit.includes('@') ? othersOf(systemctl) : []
  const staysFor = file.startsWith(PACKAGED)
    ? "albumd's package has it"
    : others.length > 0 && `${others.join(', ')} needs it`
  if (!staysFor) rmSync(file)
  say(staysFor ? `${file} stays: ${staysFor}` : `removed ${file}`)
  systemctl.do('daemon-reload')
  // Without reset-failed, systemd would still list a failed unit after its removal.
  systemctl.ask('reset-failed', unit)
  say(`config, key and state stay${user ? '' : ', and so does the user albumd'}`)
  return EXIT.inSync
}

function othersOf(systemctl: Systemctl): string[] {
  // The exit code is not checked, because systemctl exits with 1 when there is no such unit.
  const list = (...what: string[]) => systemctl.ask(...what, '--no-legend', 'albumd@*.service').out
  const enabled = list('list-unit-files', '--state=enabled')
  const running = list('list-units', '--plain', '--state=active,activating')
  const names = `${enabled}\n${running}`.split('\n').map(line => line.trim().split(/\s+/)[0] ?? '')
  return [...new Set(names)].filter(name => /^albumd@.+\.service$/.test(name))
}

function say(line: string): void {
  printLine(printable(line))
}

/** Whether a service can be started. `missing`: why not, each reason with what to do. `warnings`: faults with which the service
 * still runs. `program`: the command line of the service. */
export function readinessOf(
  { config: file, user, stateDir, key }: ServicePlace,
  program: readonly string[],
): Record<'missing' | 'warnings', string[]> {
  const isUnreadable = (path: string) => !user && !serviceUserCanRead(path)
  const missing = program
    .filter(word => word.startsWith('/') && isUnreadable(word))
    .map(
      path =>
        `${path}: ${CANT_READ}; install Node and albumd where everybody may, as in /usr/local, and run this again`,
    )
  if (!existsSync(file)) {
    missing.push(`${file}: no such file; "albumd init --config ${file}" writes it`)
    return { missing, warnings: [] }
  }
  if (isUnreadable(file)) missing.push(`${file}: ${CANT_READ}; chmod 644 it (the key is not in it)`)
  let config: Config
  try {
    config = loadConfig(file, stateDir === null ? process.env : { STATE_DIRECTORY: stateDir })
  } catch (error) {
    missing.push(...(error as Error).message.split('\n'))
    return { missing, warnings: [] }
  }
  const { state_dir, host, account, mirrors } = config
  const named = host.api_key_file
  if (named === undefined && !existsSync(key))
    missing.push(`${key}: no such file; write the API key into it, and let nobody else read it (chmod 600)`)
  else if (named !== undefined && !existsSync(named))
    missing.push('host.api_key_file: no such file; write the API key into it')
  else if (named !== undefined && isUnreadable(named))
    missing.push(
      `host.api_key_file: ${CANT_READ}; take the line out of the config, and have the key in ${key}: systemd hands it in`,
    )
  for (const [name, path] of [
    ['host.ca_file', host.ca_file],
    ['account.shared_password_file', account.shared_password_file],
    ['account.shared_ca_file', account.shared_ca_file],
  ] as const)
    if (path !== undefined && isUnreadable(path))
      missing.push(`${name}: ${CANT_READ}; let it, or move the file to /etc/albumd`)
  if (stateDir !== null && state_dir !== stateDir)
    missing.push(`state_dir: ${state_dir}: the service may write to ${stateDir} alone; take the line out`)
  const warnings = mirrors.flatMap(({ folder }) => {
    if (user) return []
    if (!existsSync(folder)) return [`${folder}: no such folder; it is guarded until it is there`]
    if (/^\/(var\/)?tmp\//.test(folder))
      return [`${folder}: the service has a /tmp of its own; move the folder`]
    return isUnreadable(folder) ? [`${folder}: ${CANT_READ}; it is guarded until it can: ${PERMIT}`] : []
  })
  return { missing, warnings }
}

const CANT_READ = `the user ${SERVICE_USER} can't read it`
const PERMIT = `setfacl -R -m u:${SERVICE_USER}:rX,d:u:${SERVICE_USER}:rX on it, and u:${SERVICE_USER}:x on the folders above`
