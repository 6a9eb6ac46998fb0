import type { InferredOptionTypes } from 'yargs'
import type { HostOptions } from '../../host/embedded-host.ts'
import { makeFolder } from '../../local/make-folder.ts'
import { PLANS, type Plan } from '../../protocol/limits.ts'
import { EXIT } from '../exit-codes.ts'
import { command } from '../options.ts'
import { aborted } from '../terminal/interrupts.ts'
import { Problem } from '../words/problem.ts'

const OPTIONS = {
  data: {
    type: 'string',
    demandOption: true,
    requiresArg: true,
    describe: 'The folder that holds everything',
  },
  listen: {
    type: 'string',
    default: '127.0.0.1:8443',
    requiresArg: true,
    describe: 'Address and port',
  },
  'api-key': {
    type: 'string',
    array: true,
    demandOption: true,
    requiresArg: true,
    describe: 'The key to accept; several are several accounts',
  },
  plan: { choices: PLANS, default: 'professional' as Plan, describe: 'The plan of the accounts' },
  'plans-from': {
    choices: ['professional', 'flagship'] as const,
    default: 'professional' as const,
    describe: 'The plan from which list, delete and create_album may be used',
  },
  'daily-quota': {
    // As a number, yargs would take 1 given twice for 2.
    type: 'string',
    requiresArg: true,
    describe: "Images a day, instead of the plan's",
  },
  'max-file-size': { type: 'string', requiresArg: true, describe: 'Such as 20mb' },
  'storage-limit': { type: 'string', requiresArg: true, describe: 'Such as 10gb' },
  'credential-ttl': {
    type: 'string',
    default: '10m',
    requiresArg: true,
    describe: 'How long an upload may take',
  },
  tls: { type: 'boolean', default: true, describe: 'Off: --no-tls' },
  json: { type: 'boolean', default: false, describe: 'One line when it listens' },
} as const

type HostArgs = InferredOptionTypes<typeof OPTIONS>

export const hostCommand = command(
  options => options.options(OPTIONS).example('$0 host --data ./host --api-key secret', 'Serve from ./host'),
  async (args, onInterrupts) => {
    const interrupts = onInterrupts()
    const options = await optionsOf(args)
    const { startHost } = await import('../../host/embedded-host.ts')
    const folder = async () => makeFolder(args.data, 0o700)
    const host = await folder()
      .then(() => startHost(options))
      .catch(explain(args))
    const { baseUrl, siteUrl, cdnBaseUrl, caFile } = host
    process.stdout.write(
      args.json
        ? `${JSON.stringify({ base_url: baseUrl, site_url: siteUrl, cdn_base_url: cdnBaseUrl, api_key: options.apiKeys[0], ca_file: caFile })}\n`
        : `base_url: ${baseUrl}\n${caFile ? `ca_file:  ${caFile}\n` : ''}Ctrl-C stops it.\n`,
    )
    await aborted(interrupts.stop)
    await host.close()
    return EXIT.inSync
  },
)

async function optionsOf(args: HostArgs): Promise<HostOptions> {
  if (args.data === '') throw new Problem(EXIT.usage, '--data must be a folder')
  if (args['api-key'].includes('')) throw new Problem(EXIT.usage, '--api-key must not be empty')
  const { mayBeKey } = await import('../../config/host-access.ts')
  if (!args['api-key'].every(mayBeKey))
    throw new Problem(
      EXIT.usage,
      '--api-key: a key is printable ASCII without spaces, at most 4096 characters: no client could send another',
    )
  const { parseDuration, parseSize } = await import('../../config/values.ts')
  const read = (option: string, written: string, value: number | null, like: string): number => {
    if (value === null || value <= 0)
      throw new Problem(EXIT.usage, `--${option}: "${written}" must be ${like}`)
    return value
  }
  const size = (option: string, written: string) =>
    read(option, written, /^\d+$/.test(written) ? Number(written) : parseSize(written), 'a size such as 20mb')
  const ttl = args['credential-ttl']
  const listen = /^(?:\[(?<six>[0-9a-fA-F:]+)\]|(?<host>[^:]+)):(?<port>\d{1,5})$/.exec(args.listen)?.groups
  if (!listen || Number(listen.port) > 65535)
    throw new Problem(
      EXIT.usage,
      `--listen: "${args.listen}" must be an address and a port, such as 127.0.0.1:8443`,
    )
  const quota = args['daily-quota']
  if (quota !== undefined && !/^\d{1,15}$/.test(quota))
    throw new Problem(EXIT.usage, '--daily-quota must be a whole number')
  return {
    data: args.data,
    listen: { host: (listen.six ?? listen.host)!, port: Number(listen.port) },
    apiKeys: args['api-key'],
    plan: args.plan,
    plansFrom: args['plans-from'],
    tls: args.tls,
    onFault: fault => void process.stderr.write(`albumd: ${fault.message}\n`),
    credentialTtlMs: read('credential-ttl', ttl, parseDuration(ttl), 'a duration such as 10m'),
    ...(quota !== undefined && { dailyQuota: Number(quota) }),
    ...(args['max-file-size'] !== undefined && {
      maxFileSize: size('max-file-size', args['max-file-size']),
    }),
    ...(args['storage-limit'] !== undefined && {
      storageLimit: size('storage-limit', args['storage-limit']),
    }),
  }
}

/** Of a folder that can't be made, or that no data can be put in. */
const FOLDER_CODES =
  /^(?:ENOENT|EPERM|ENOTDIR|EEXIST|EACCES|EROFS|ENOSPC|ENAMETOOLONG|ELOOP|SQLITE_(?:CANTOPEN|READONLY|FULL|IOERR)\w*)$/

function explain({ data, listen }: HostArgs) {
  return (error: NodeJS.ErrnoException): never => {
    const { code = '', syscall } = error
    if (code === 'EADDRINUSE')
      throw new Problem(EXIT.usage, `--listen ${listen}: something listens there already`)
    if (syscall === 'listen' || syscall === 'getaddrinfo')
      throw new Problem(EXIT.usage, `--listen ${listen}: not possible here (${code})`)
    if (FOLDER_CODES.test(code))
      throw new Problem(EXIT.usage, `--data ${data}: the folder can't be made or used (${code})`)
    throw error
  }
}
