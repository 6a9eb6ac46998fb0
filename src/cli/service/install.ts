import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { EXIT } from '../exit-codes.ts'
import { Problem } from '../words/problem.ts'
import { printable } from '../words/wording.ts'
import { makeServiceUser, SERVICE_USER, type ServicePlace, unitText } from './place.ts'
import { readinessOf } from './readiness.ts'
import { runTool, Systemctl } from './systemctl.ts'

/**
 * Installs a unit and starts it. May be repeated. Answers the exit code: 3 when something is missing that the service needs to
 * run.
 */
export async function install(place: ServicePlace): Promise<number> {
  const systemctl = new Systemctl(place.user)
  refuseInVain(place, systemctl)
  const program = [process.execPath, resolve(process.argv[1]!)]
  if (!place.user)
    say(makeServiceUser() ? `made the user ${SERVICE_USER}` : `the user ${SERVICE_USER} is there`)
  const changed = putUnit(place, unitText(place.template, program))
  systemctl.do('daemon-reload')
  enable(place, systemctl)
  const { missing, warnings } = readinessOf(place, program)
  for (const line of warnings) say(line)
  if (missing.length > 0) {
    for (const line of missing) say(line)
    say(`not started; when that is done: ${command(place, 'restart')}`)
    return EXIT.left
  }
  start(place, systemctl, changed)
  if (place.user) sayWhen()
  return EXIT.inSync
}

/** Checks everything first. Throws Problem before anything is changed. */
function refuseInVain({ user }: ServicePlace, systemctl: Systemctl): void {
  if (resolve(process.argv[1] ?? '').includes('/_npx/'))
    throw new Problem(
      EXIT.usage,
      'this albumd is in the cache of npx, which may be emptied; npm install --global albumd, then run it from there',
    )
  if (!user && process.getuid?.() !== 0)
    throw new Problem(EXIT.usage, 'only root may do that: run it with sudo, or with --user for your own')
  systemctl.refuseAbsent()
  if (runTool('systemd-notify', ['--version']) === null)
    throw new Problem(EXIT.usage, 'there is no systemd-notify; it comes with systemd, and albumd needs it')
}

/** Writes a file. Answers whether its text has changed. */
function putUnit({ file }: ServicePlace, text: string): boolean {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null
  if (before === text) {
    say(`${file} is there`)
    return false
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: 0o644 })
  say(before === null ? `wrote ${file}` : `renewed ${file}`)
  return true
}

function enable({ unit, user }: ServicePlace, systemctl: Systemctl): void {
  const when = user ? 'when you log in' : 'with the machine'
  if (systemctl.ask('is-enabled', unit).out.trim() === 'enabled') {
    say(`${unit} starts ${when}`)
    return
  }
  systemctl.do('enable', '--quiet', unit)
  say(`${unit} starts ${when} from now on`)
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
    throw new Problem(EXIT.unexpected, `${unit} did not start; ${log} says why`)
  }
  say(runs ? `restarted ${unit}` : `started ${unit}`)
}

/** Warns that a user's services end with the user's last session, unless lingering is enabled. */
function sayWhen(): void {
  const lingers = runTool('loginctl', ['show-user', '--property=Linger', '--value', process.env.USER ?? ''])
  if (lingers?.out.trim() !== 'yes')
    say('it runs while you are logged in; loginctl enable-linger has it run from the start of the machine')
}

function command({ unit, user }: ServicePlace, verb: string): string {
  return `${user ? 'systemctl --user' : 'systemctl'} ${verb} ${unit}`
}

function say(line: string): void {
  process.stdout.write(`${printable(line)}\n`)
}
