import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { InferredOptionTypes } from 'yargs'
import { findConfig } from '../../config/config-file.ts'
import { keyFileBeside, xdgFolder } from '../../config/paths.ts'
import { orNull } from '../../daemon/or-null.ts'
import { PLANS } from '../../protocol/limits.ts'
import { alteredInWords, printable, shellWord } from '../../words/text.ts'
import type { Draft } from '../init/draft.ts'
import { command, valued } from '../options.ts'
import { EXIT, Problem } from '../problem.ts'
import { hasSystemd } from '../service/systemctl.ts'
import { PROGRAM } from '../terminal/output.ts'

const OPTIONS = {
  config: {
    alias: 'c',
    ...valued('The file to write; else ~/.config/albumd/config.yaml, for root /etc/albumd/config.yaml'),
  },
  'base-url': valued("The host's interface, ending in /api/v1"),
  'ca-file': valued("The host's own authority (PEM)"),
  'api-key-file': valued(
    'A file that holds the key already; else $ALBUMD_API_KEY is written beside the config',
  ),
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
    describe: 'Their albums, in the same order; else named as the folders are',
  },
  deletions: {
    type: 'string',
    requiresArg: true,
    describe: 'How long images of many deleted pictures stay: 7d, say; propagate: 1d; keep: for good',
  },
  strip: valued('Which metadata are taken out of what is sent: none, location or all'),
  check: { type: 'boolean', default: true, describe: 'Try address and key, unless --no-check' },
} as const

export const initCommand = command(
  options =>
    options
      .options(OPTIONS)
      .example('$0 init', 'Asks, at a terminal')
      .example(
        'ALBUMD_API_KEY=… $0 init --base-url https://images.example.com/api/v1 --folder ~/Pictures',
        'Without a terminal',
      )
      .epilogue('It overwrites nothing, and asks for what no option gives.'),
  async args => {
    const file = targetOf(args.config)
    const { thereAlready, writeConfig } = await import('../init/draft.ts')
    for (const path of [file, ...(args['api-key-file'] === undefined ? [keyFileBeside(file)] : [])])
      if (existsSync(path)) throw thereAlready(path)
    if (args.album.length > args.folder.length)
      throw new Problem('--album is given more often than --folder. Give one for each folder')
    const { Asker } = await import('../terminal/asker.ts')
    const { loadConfig } = await import('../../config/load-config.ts')
    const { readState } = await import('../../daemon/state/state.ts')
    const { agreeOnHost, agreeOnKey, agreeOnMetadata, agreeOnMirrors } = await import('../init/answers.ts')
    const asker = new Asker(process.stdin, process.stdout)
    if (asker.person) asker.say(`Ctrl-C ends this; ${printable(file)} is written at the end.\n`)
    else refuseMissing(args)
    // What an earlier config may have left in the state.
    const knownOfHost = () =>
      orNull(() => {
        const config = loadConfig(file, process.env)
        return readState(config, ({ meta }) =>
          meta.get('base_url') === config.host.base_url ? alteredInWords(meta.get('delivery') ?? {}) : null,
        )
      })
    const draft: Draft = { file, host: { base_url: '' }, mirrors: [] }
    try {
      await agreeOnHost(asker, args, draft)
      const key = await agreeOnKey(asker, args, draft)
      if (args.plan) draft.host.plan = args.plan
      await agreeOnMirrors(asker, args, draft)
      await agreeOnMetadata(asker, args, draft)
      // A config in /etc/albumd is for a service of the machine, whose user must be able to read it. The key's file is root's, so
      // the service gets the key from systemd, and root's commands find the file beside the config.
      const isOfSystem = file.startsWith('/etc/albumd/')
      const keyFile = key === null ? null : keyFileBeside(file)
      if (keyFile && !isOfSystem) draft.host.api_key_file = relative(dirname(file), keyFile)
      writeConfig(draft, key, isOfSystem ? 0o644 : 0o600)
      asker.say(whatIsWritten(file, keyFile, draft))
      process.stdout.write(`${whatNext(file, keyFile !== null && isOfSystem).join('\n')}\n`)
      const altered = knownOfHost()
      if (altered) asker.say(`\nThis host delivers ${altered}.`)
      return EXIT.inSync
    } finally {
      asker.close()
    }
  },
)

function refuseMissing(args: InferredOptionTypes<typeof OPTIONS>): void {
  const hasKey = args['api-key-file'] !== undefined || process.env.ALBUMD_API_KEY
  const missing = [
    ...(args['base-url'] === undefined ? ['--base-url'] : []),
    ...(hasKey ? [] : ['--api-key-file (or $ALBUMD_API_KEY)']),
    ...(args.folder.length === 0 ? ['--folder'] : []),
  ].join(', ')
  if (missing) throw new Problem(`No terminal to ask at. Give these: ${missing}`)
}

/** The path of the config to write. Without a flag, `findConfig` looks at this path later. */
function targetOf(flag: string | undefined): string {
  if (flag !== undefined) return resolve(flag)
  if (process.getuid?.() === 0) return '/etc/albumd/config.yaml'
  const folder = xdgFolder(process.env.XDG_CONFIG_HOME, '.config', process.env)
  if (folder === null) throw new Problem('$HOME is not set. Name the file to write with --config')
  return join(folder, 'albumd', 'config.yaml')
}

function whatIsWritten(file: string, keyFile: string | null, { uploads }: Draft): string {
  return [
    '',
    `wrote ${printable(file)}, which explains every other setting`,
    ...(keyFile ? [`wrote ${printable(keyFile)}, the key, readable by you alone`] : []),
    '',
    'Delivery addresses are public: whoever has one sees the picture, without the key.',
    uploads?.strip === 'none'
      ? 'Pictures go as they are, with their metadata: the places where they were taken, the camera, the time.'
      : 'Pictures go without the place where they were taken; BMP, ICO and SVG go as they are.',
    '',
  ].join('\n')
}

/** `handedIn`: the service gets the key from systemd. Only root can read the key's file, and the service could not use the
 * state that root's `albumd run` makes. `program`: the name to call albumd by. */
export function whatNext(
  file: string,
  handedIn: boolean,
  program = PROGRAM,
  isSystemd = hasSystemd(),
): string[] {
  const flag = isFound(file) ? '' : ` --config ${printable(shellWord(file))}`
  const service = isSystemd ? installs(file, program) : null
  return [
    `see what it would do    ${program} sync --dry-run${flag}`,
    `look for trouble        ${program} doctor${flag}`,
    ...(handedIn && service ? [] : [`keep it mirrored        ${program} run${flag}`]),
    ...(service === null
      ? []
      : [`${handedIn ? 'keep it mirrored    ' : 'have systemd do that'}    ${service}`]),
  ]
}

/** Whether commands find the config without being told where it is. */
function isFound(file: string): boolean {
  return orNull(() => resolve(findConfig(process.env, process.cwd()))) === file
}

function installs(file: string, program: string): string | null {
  if (file === '/etc/albumd/config.yaml') return `${program} service install`
  const own = xdgFolder(process.env.XDG_CONFIG_HOME, '.config', process.env)
  return own !== null && file === join(own, 'albumd/config.yaml') ? `${program} service install --user` : null
}
