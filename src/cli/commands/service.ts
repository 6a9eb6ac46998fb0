import { existsSync } from 'node:fs'
import type { InferredOptionTypes } from 'yargs'
import { type CommandCode, command, flag, jsonOption, valued, yargsModule } from '../options.ts'
import { EXIT, Problem } from '../problem.ts'
import { isCurrent, type ServicePlace, servicePlace } from '../service/place.ts'
import { Systemctl } from '../service/systemctl.ts'
import { printJson, printLine } from '../terminal/output.ts'

const whose = {
  user: flag('Your own service, instead of the machine’s'),
  account: valued('One of several: its config is in /etc/albumd/ACCOUNT/config.yaml'),
} as const

export const serviceCommand: CommandCode = {
  builder: options =>
    options
      .command(yargsModule(INSTALL, install))
      .command(yargsModule(UNINSTALL, uninstall))
      .command(yargsModule(STATUS, status))
      .demandCommand(1, 'Say what to do: install, uninstall or status.')
      .example('sudo $0 service install', 'With /etc/albumd/config.yaml, as the user albumd')
      .example('$0 service install --user', 'With ~/.config/albumd/config.yaml, as yourself'),
  handler: async () => {},
}

const INSTALL = {
  command: 'install',
  describe: 'Write the unit, and start it if its config and key are there',
  exits: [EXIT.inSync, EXIT.usage, EXIT.left],
}

const install = command(
  options =>
    options
      .options(whose)
      .example('sudo $0 service install', 'From the start of the machine on, as the user albumd')
      .example('sudo $0 service install --account anna', 'For one account of several')
      .example('$0 service install --user', 'While you are logged in, as yourself')
      .epilogue('What is there already stays. Run it after an update of albumd or Node as well.'),
  async args => (await import('../service/install.ts')).install(placeOf(args)),
)

const UNINSTALL = {
  command: 'uninstall',
  describe: 'Stop it and remove the unit; config, key and state stay',
  exits: [EXIT.inSync, EXIT.usage],
}

const uninstall = command(
  options =>
    options
      .options(whose)
      .example('sudo $0 service uninstall', 'The machine’s')
      .example('$0 service uninstall --user', 'Your own'),
  async args => (await import('../service/install.ts')).uninstall(placeOf(args)),
)

const STATUS = {
  command: 'status',
  describe: 'Whether it is installed, starts by itself, and runs; exit code 3 if it does not run',
  exits: [EXIT.inSync, EXIT.usage, EXIT.left],
}

const status = command(
  options =>
    options
      .options({ ...whose, ...jsonOption })
      .example('$0 service status', 'The machine’s')
      .example('$0 service status --user --json', 'Your own, for a program'),
  async args => {
    const place = placeOf(args)
    const known = readStatus(place)
    if (args.json) printJson(known)
    else printLine(inWords(known, place))
    return known.state === 'active' || known.state === 'reloading' ? EXIT.inSync : EXIT.left
  },
)

function placeOf({ user, account }: InferredOptionTypes<typeof whose>): ServicePlace {
  if (user && account !== undefined)
    throw new Problem('--account is for the services of the machine, --user for your own. Use one of them')
  if (account !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_.]*$/.test(account))
    throw new Problem(`--account ${account} is no name. Use only letters, digits, _ and .`)
  return servicePlace(user, account ?? null, process.env)
}

function readStatus(place: ServicePlace) {
  const { user, unit, file } = place
  const systemctl = new Systemctl(user)
  const known = systemctl.show(unit, 'ActiveState', 'Result', 'MainPID', 'NRestarts')
  const installed = existsSync(file)
  return {
    unit,
    file,
    installed,
    current: isCurrent(place),
    /** Whether the service starts at boot or login. */
    enabled: systemctl.isEnabled(unit),
    /** systemd's state: active, activating, reloading, deactivating, inactive or failed. */
    state: known.ActiveState,
    /** systemd's word for the last end: success, exit-code, signal, watchdog, timeout … */
    result: known.Result,
    pid: Number(known.MainPID) || null,
    /** How often systemd has restarted the service. */
    restarts: Number(known.NRestarts),
  }
}

function inWords(status: ReturnType<typeof readStatus>, { user, starts }: ServicePlace): string {
  const { unit, file, installed, current, enabled, state, result, pid, restarts } = status
  const flag = user ? ' --user' : ''
  if (!installed) return `${unit} is not installed; albumd service install${flag} does that`
  const ended = result === 'success' ? '' : ` (${result}; journalctl${flag} -u ${unit} says why)`
  return [
    `${unit}: ${state}${pid === null ? '' : ` (pid ${pid})`}${state === 'active' ? '' : ended}`,
    ...(restarts > 0 ? [`  started again by systemd: ${restarts}`] : []),
    `  ${enabled ? `starts ${starts}` : `does not start by itself; albumd service install${flag} has it do so`}`,
    current ? `  ${file}` : `  ${file} is not of this albumd; albumd service install${flag} renews it`,
  ].join('\n')
}
