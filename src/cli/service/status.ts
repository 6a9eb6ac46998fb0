import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { EXIT } from '../exit-codes.ts'
import { printable } from '../words/wording.ts'
import { type ServicePlace, unitText } from './place.ts'
import { Systemctl } from './systemctl.ts'

/** `service status --json`. */
interface ServiceStatus {
  unit: string
  file: string
  installed: boolean
  /** Whether the unit's file is as this albumd would write it. */
  current: boolean
  /** Whether the service starts at boot or login. */
  enabled: boolean
  /** systemd's state: active, activating, reloading, deactivating, inactive or failed. */
  state: string
  /** systemd's word for the last end: success, exit-code, signal, watchdog, timeout … */
  result: string
  pid: number | null
  /** What albumd reports about itself (STATUS= of sd_notify). */
  says: string | null
  /** How often systemd has restarted the service. */
  restarts: number
}

/** Shows the state of a service. Answers the exit code: 3 when it does not run. */
export async function showStatus(place: ServicePlace, json: boolean): Promise<number> {
  const systemctl = new Systemctl(place.user)
  systemctl.refuseAbsent()
  const status = read(place, systemctl)
  process.stdout.write(json ? `${JSON.stringify(status)}\n` : inWords(status, place))
  return status.state === 'active' || status.state === 'reloading' ? EXIT.inSync : EXIT.left
}

function read({ unit, file, template }: ServicePlace, systemctl: Systemctl): ServiceStatus {
  const known = systemctl.show(unit, 'ActiveState', 'Result', 'MainPID', 'StatusText', 'NRestarts')
  const installed = existsSync(file)
  const program = [process.execPath, resolve(process.argv[1]!)]
  return {
    unit,
    file,
    installed,
    current: installed && readFileSync(file, 'utf8') === unitText(template, program),
    enabled: systemctl.ask('is-enabled', unit).out.trim() === 'enabled',
    state: known.ActiveState,
    result: known.Result,
    pid: Number(known.MainPID) || null,
    says: known.StatusText || null,
    restarts: Number(known.NRestarts),
  }
}

function inWords(status: ServiceStatus, { user }: ServicePlace): string {
  const { unit, file, installed, current, enabled, state, result, pid, says, restarts } = status
  const flag = user ? ' --user' : ''
  if (!installed) return `${unit} is not installed; albumd service install${flag} does that\n`
  const ended = result === 'success' ? '' : ` (${result}; journalctl${flag} -u ${unit} says why)`
  const when = user ? 'when you log in' : 'with the machine'
  const lines = [
    `${unit}: ${state}${pid === null ? '' : ` (pid ${pid})`}${state === 'active' ? '' : ended}`,
    ...(says === null ? [] : [`  ${printable(says)}`]),
    ...(restarts > 0 ? [`  started again by systemd: ${restarts}`] : []),
    enabled ? `  starts ${when}` : '  does not start by itself',
    current ? `  ${file}` : `  ${file} is not of this albumd; albumd service install${flag} renews it`,
  ]
  return `${lines.join('\n')}\n`
}
