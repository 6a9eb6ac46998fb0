import { makeFolder } from '../../local/make-folder.ts'
import { type HostArgs, OPTIONS } from '../host/options.ts'
import { command } from '../options.ts'
import { EXIT, Problem } from '../problem.ts'
import { aborted } from '../terminal/interrupts.ts'
import { printJson, printLine } from '../terminal/output.ts'

export const hostCommand = command(
  options => options.options(OPTIONS).example('$0 host --data ./host --api-key secret', 'Serve from ./host'),
  async (args, onInterrupts) => {
    const interrupts = onInterrupts()
    const { readOptions } = await import('../host/read-options.ts')
    const options = readOptions(args)
    const { startHost } = await import('../../host/embedded-host.ts')
    const folder = async () => makeFolder(options.data, 0o700)
    const host = await folder()
      .then(() => startHost(options))
      .catch(explain(args))
    const { baseUrl, siteUrl, cdnBaseUrl, caFile, port } = host
    const [api_key] = options.apiKeys
    if (args.json)
      printJson({
        base_url: baseUrl,
        site_url: siteUrl,
        cdn_base_url: cdnBaseUrl,
        api_key,
        ca_file: caFile,
        port,
      })
    else printLine(`base_url: ${baseUrl}\n${caFile ? `ca_file:  ${caFile}\n` : ''}Ctrl-C stops it.`)
    await aborted(interrupts.stop)
    await host.close()
    return EXIT.inSync
  },
)

/** The error codes for a folder that can't be made, or that no data can be written to. */
const FOLDER_CODES =
  /^(?:ENOENT|EPERM|ENOTDIR|EEXIST|EACCES|EROFS|ENOSPC|ENAMETOOLONG|ELOOP|SQLITE_(?:CANTOPEN|READONLY|FULL|IOERR)\w*)$/

function explain({ data, listen }: HostArgs) {
  return (error: NodeJS.ErrnoException): never => {
    const { code = '', syscall } = error
    if (code === 'EADDRINUSE') throw new Problem(`--listen ${listen} is taken. Name another port`)
    if (syscall === 'listen' || syscall === 'getaddrinfo')
      throw new Problem(`--listen ${listen} is not possible here (${code}). Name another address`)
    if (FOLDER_CODES.test(code))
      throw new Problem(`--data ${data} can't be made or used (${code}). Name another folder`)
    throw error
  }
}
