import type { CommandModule, InferredOptionTypes } from 'yargs'
import { EXIT, exitCodesInHelp } from '../exit-codes.ts'
import { command, jsonOption, type LogLevelArgs, type MakeCommand } from '../options.ts'
import { type ServicePlace, servicePlace } from '../service/place.ts'
import { showStatus } from '../service/status.ts'
import { uninstall } from '../service/uninstall.ts'
import { Problem } from '../words/problem.ts'

const whose = {
  user: { type: 'boolean', default: false, describe: 'Your own service, instead of the machine’s' },
  account: {
    type: 'string',
    requiresArg: true,
    describe: 'One of several: its config is in /etc/albumd/ACCOUNT/config.yaml',
  },
} as const

type ServiceArgs = InferredOptionTypes<typeof whose>

export const serviceCommand: MakeCommand = exit => ({
  builder: options =>
    options
      .command(subcommand(INSTALL, exit))
      .command(subcommand(UNINSTALL, exit))
      .command(subcommand(STATUS, exit))
      .demandCommand(1, 'Say what is to be done: install, uninstall or status.')
      .example('sudo $0 service install', 'With /etc/albumd/config.yaml, as the user albumd')
      .example('$0 service install --user', 'With ~/.config/albumd/config.yaml, as yourself'),
  handler: async () => {},
})

interface Subcommand {
  command: string
  describe: string
  exits: readonly number[]
  make: MakeCommand
}

function subcommand(
  { command, describe, exits, make }: Subcommand,
  exit: (code: number) => void,
): CommandModule<LogLevelArgs> {
  const { builder, handler } = make(exit)
  return { command, describe, builder: options => builder(options).epilogue(exitCodesInHelp(exits)), handler }
}

const INSTALL: Subcommand = {
  command: 'install',
  describe: 'Put the unit in its place, and start it where its config and key are there',
  exits: [EXIT.inSync, EXIT.usage, EXIT.left],
  make: command(
    options =>
      options
        .options(whose)
        .example('sudo $0 service install', 'From the start of the machine on, as the user albumd')
        .example('sudo $0 service install --account anna', 'For one account of several')
        .example('$0 service install --user', 'While you are logged in, as yourself')
        .epilogue(
          'It says each thing that it does, and may be run again: what is there already stays. Run it after an update ' +
            'of albumd or Node as well.',
        ),
    async args => {
      const { install } = await import('../service/install.ts')
      return install(placeOf(args))
    },
  ),
}

const UNINSTALL: Subcommand = {
  command: 'uninstall',
  describe: 'Stop it and take the unit away; config, key and state stay',
  exits: [EXIT.inSync, EXIT.usage],
  make: command(
    options =>
      options
        .options(whose)
        .example('sudo $0 service uninstall', 'The machine’s')
        .example('$0 service uninstall --user', 'Your own'),
    async args => uninstall(placeOf(args)),
  ),
}

const STATUS: Subcommand = {
  command: 'status',
  describe: 'Whether it is installed, starts by itself, and runs; exit code 3 where it does not run',
  exits: [EXIT.inSync, EXIT.usage, EXIT.left],
  make: command(
    options =>
      options
        .options({ ...whose, ...jsonOption })
        .example('$0 service status', 'The machine’s')
        .example('$0 service status --user --json', 'Your own, for a program'),
    async args => showStatus(placeOf(args), args.json),
  ),
}

function placeOf({ user, account }: ServiceArgs): ServicePlace {
  if (user && account !== undefined)
    throw new Problem(
      EXIT.usage,
      '--account is for the machine’s services, --user for your own: say one of them.',
    )
  if (account !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_.]*$/.test(account))
    throw new Problem(
      EXIT.usage,
      `--account ${account}: letters, digits, _ and . alone. See albumd service --help.`,
    )
  return servicePlace(user, account ?? null, process.env)
}
