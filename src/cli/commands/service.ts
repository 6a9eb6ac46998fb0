import type { CommandModule } from 'yargs'
import { EXIT, exitCodesInHelp } from '../exit-codes.ts'
import { type CommandWork, jsonOption } from '../options.ts'
import { type ServicePlace, servicePlace } from '../service/place.ts'
import { showStatus } from '../service/status.ts'
import { uninstall } from '../service/uninstall.ts'
import { Problem } from '../words/problem.ts'

interface ServiceArgs {
  user: boolean
  account: string | undefined
}

interface ServiceStatusArgs extends ServiceArgs {
  json: boolean
}

const whose = {
  user: { type: 'boolean', default: false, describe: 'Your own service, instead of the machine’s' },
  account: {
    type: 'string',
    requiresArg: true,
    describe: 'One of several: its config is in /etc/albumd/ACCOUNT/config.yaml',
  },
} as const

export function serviceCommand(exit: (code: number) => void): CommandWork<object> {
  return {
    builder: command =>
      command
        .command(installCommand(exit))
        .command(uninstallCommand(exit))
        .command(statusCommand(exit))
        .demandCommand(1, 'Say what is to be done: install, uninstall or status.')
        .example('sudo $0 service install', 'With /etc/albumd/config.yaml, as the user albumd')
        .example('$0 service install --user', 'With ~/.config/albumd/config.yaml, as yourself'),
    handler: () => {},
  }
}

function installCommand(exit: (code: number) => void): CommandModule<object, ServiceArgs> {
  return {
    command: 'install',
    describe: 'Put the unit in its place, and start it where its config and key are there',
    builder: command =>
      command
        .options(whose)
        .example('sudo $0 service install', 'From the start of the machine on, as the user albumd')
        .example('sudo $0 service install --account anna', 'For one account of several')
        .example('$0 service install --user', 'While you are logged in, as yourself')
        .epilogue(
          'It says each thing that it does, and may be run again: what is there already stays. Run it after an update ' +
            'of albumd or Node as well.',
        )
        .epilogue(exitCodesInHelp([EXIT.inSync, EXIT.usage, EXIT.left])),
    handler: async args => {
      const { install } = await import('../service/install.ts')
      exit(await install(placeOf(args)))
    },
  }
}

function uninstallCommand(exit: (code: number) => void): CommandModule<object, ServiceArgs> {
  return {
    command: 'uninstall',
    describe: 'Stop it and take the unit away; config, key and state stay',
    builder: command =>
      command
        .options(whose)
        .example('sudo $0 service uninstall', 'The machine’s')
        .example('$0 service uninstall --user', 'Your own')
        .epilogue(exitCodesInHelp([EXIT.inSync, EXIT.usage])),
    handler: async args => exit(await uninstall(placeOf(args))),
  }
}

function statusCommand(exit: (code: number) => void): CommandModule<object, ServiceStatusArgs> {
  return {
    command: 'status',
    describe: 'Whether it is installed, starts by itself, and runs; exit code 3 where it does not run',
    builder: command =>
      command
        .options({
          ...whose,
          ...jsonOption,
        })
        .example('$0 service status', 'The machine’s')
        .example('$0 service status --user --json', 'Your own, for a program')
        .epilogue(exitCodesInHelp([EXIT.inSync, EXIT.usage, EXIT.left])),
    handler: async args => exit(await showStatus(placeOf(args), args.json)),
  }
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
