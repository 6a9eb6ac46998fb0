import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { InferredOptionTypes } from 'yargs'
import { xdgFolder } from '../../config/paths.ts'
import { PLANS } from '../../protocol/limits.ts'
import { EXIT } from '../exit-codes.ts'
import type { Asker } from '../init/asker.ts'
import type { Draft } from '../init/draft.ts'
import { command } from '../options.ts'
import { Problem } from '../words/problem.ts'
import { printable } from '../words/wording.ts'

const OPTIONS = {
  config: {
    alias: 'c',
    type: 'string',
    requiresArg: true,
    describe: 'The file to write; else ~/.config/albumd/config.yaml, for root /etc/albumd/config.yaml',
  },
  'base-url': {
    type: 'string',
    requiresArg: true,
    describe: "The host's interface, ending in /api/v1",
  },
  'ca-file': { type: 'string', requiresArg: true, describe: "The host's own authority (PEM)" },
  'api-key-file': {
    type: 'string',
    requiresArg: true,
    describe: 'A file that holds the key already; else $ALBUMD_API_KEY is written beside the config',
  },
  plan: { choices: PLANS, describe: 'The plan of the account' },
  folder: {
    type: 'string',
    array: true,
    default: [] as string[],
    requiresArg: true,
    describe: 'A folder; several may be given',
  },
  album: {
    type: 'string',
    array: true,
    default: [] as string[],
    describe: "The folders' albums, in their order; else named as the folders are",
  },
  deletions: { choices: ['propagate', 'keep'], describe: 'propagate: a mirror; keep: a backup' },
  check: { type: 'boolean', default: true, describe: 'Ask the host; off: --no-check' },
} as const

type InitArgs = InferredOptionTypes<typeof OPTIONS>

export const initCommand = command(
  options =>
    options
      .options(OPTIONS)
      .example('$0 init', 'Asks, at a terminal')
      .example(
        'ALBUMD_API_KEY=… $0 init --base-url https://images.example.com/api/v1 --folder ~/Pictures',
        'Without a terminal',
      )
      .epilogue('It writes over nothing, and asks for what no option says.'),
  async args => {
    const file = targetOf(args.config)
    const { keyFileBeside, thereAlready, writeConfig } = await import('../init/draft.ts')
    for (const path of [file, ...(args['api-key-file'] === undefined ? [keyFileBeside(file)] : [])])
      if (existsSync(path)) throw new Problem(EXIT.usage, thereAlready(path))
    if (args.album.length > args.folder.length)
      throw new Problem(
        EXIT.usage,
        '--album is given more often than --folder; each is the album of one folder',
      )
    const { agreeOnHost } = await import('../init/host-answers.ts')
    const { agreeOnKey } = await import('../init/host-answers.ts')
    const { agreeOnMirrors } = await import('../init/mirror-answers.ts')
    const asker = await openAsker(args)
    const draft: Draft = { file, config: { host: { base_url: '' }, mirrors: [] } }
    try {
      await agreeOnHost(asker, args, draft)
      const key = await agreeOnKey(asker, args, draft)
      if (args.plan) draft.config.host.plan = args.plan
      await agreeOnMirrors(asker, args, draft)
      const apiKey = key === null ? null : { file: keyFileBeside(file), key }
      // A service's user must read its config, and gets the key from systemd.
      const isOfSystem = file.startsWith('/etc/albumd/')
      if (apiKey && !isOfSystem) draft.config.host.api_key_file = relative(dirname(file), apiKey.file)
      writeConfig({ file, config: draft.config, apiKey, mode: isOfSystem ? 0o644 : 0o600 })
      process.stdout.write(`${epilogue(file, apiKey?.file ?? null, apiKey !== null && isOfSystem)}\n`)
      return EXIT.inSync
    } finally {
      asker.close()
    }
  },
)

async function openAsker(args: InitArgs): Promise<Asker> {
  const { atTerminal, optionsOnly } = await import('../init/asker.ts')
  if (process.stdin.isTTY && process.stdout.isTTY) {
    process.stdout.write('Ctrl-C ends this; nothing is written before the end.\n\n')
    return atTerminal(process.stdin, process.stdout)
  }
  const missing = [
    ...(args['base-url'] === undefined ? ['--base-url'] : []),
    ...(args['api-key-file'] === undefined && !process.env.ALBUMD_API_KEY
      ? ['--api-key-file (or $ALBUMD_API_KEY)']
      : []),
    ...(args.folder.length === 0 ? ['--folder'] : []),
  ]
  if (missing.length > 0)
    throw new Problem(
      EXIT.usage,
      `there is no terminal to ask at, so these are needed: ${missing.join(', ')}. See albumd init --help.`,
    )
  return optionsOnly()
}

/** Where `findConfig` looks for it later. */
function targetOf(flag: string | undefined): string {
  if (flag !== undefined) return resolve(flag)
  if (process.getuid?.() === 0) return '/etc/albumd/config.yaml'
  const folder = xdgFolder(process.env.XDG_CONFIG_HOME, '.config', process.env)
  if (folder === null) throw new Problem(EXIT.usage, '$HOME is not set; name the file to write with --config')
  return join(folder, 'albumd', 'config.yaml')
}

/** `handedIn`: systemd alone hands the key in, to the service; a run by hand would find none. */
export function epilogue(file: string, keyFile: string | null, handedIn: boolean): string {
  const at = printable(file)
  const service = installs(file)
  return [
    '',
    `wrote ${at}, where every other setting stands with what it is for`,
    ...(keyFile ? [`wrote ${printable(keyFile)}, the key, readable by you alone`] : []),
    '',
    'Delivery addresses are public: whoever has one sees the picture, without the key.',
    'Pictures go as they are, with their metadata: the places where they were taken, the camera, the time.',
    '',
    `see what it would do    albumd sync --dry-run --config ${at}`,
    `look for trouble        albumd doctor --config ${at}`,
    ...(handedIn ? [] : [`keep it mirrored        albumd run --config ${at}`]),
    ...(service === null
      ? []
      : [`${handedIn ? 'keep it mirrored    ' : 'have systemd do that'}    ${service}`]),
  ].join('\n')
}

/** What has a service run with this config; null where no service looks for it there. */
function installs(file: string): string | null {
  if (file === '/etc/albumd/config.yaml') return 'albumd service install'
  const own = xdgFolder(process.env.XDG_CONFIG_HOME, '.config', process.env)
  return own !== null && file === join(own, 'albumd/config.yaml') ? 'albumd service install --user' : null
}
