import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { basename, join, relative, resolve } from 'node:path'
import { stringify } from 'yaml'
import { makeFolder } from '../local/make-folder.ts'
import { ENDPOINTS } from '../protocol/endpoints.ts'
import { albumNameOf } from '../sync/album.ts'
import { Problem } from './problem.ts'

/** The folder of a trial, which holds everything that the trial writes. */
export interface Workspace {
  folder: string
  isSample: boolean
  config: string
  hostData: string
  caFile: string
  port: number
  apiKey: string
}

const SAMPLES = join(import.meta.dirname, 'try/pictures')

const USUAL_PORT = 8443

/** Makes the workspace in `cwd`/albumd-try, for the pictures in `given` or for the samples. A later start opens the same
 * workspace, with the same port, key and state. */
export async function openWorkspace(cwd: string, given: string | undefined): Promise<Workspace> {
  const own = given === undefined ? null : realFolder(given)
  const home = join(realpathSync(cwd), 'albumd-try', own === null ? 'samples' : nameFor(own))
  if (own !== null && !relative(own, home).startsWith('..'))
    throw new Problem(`${own} holds ${cwd}, where the trial would be kept. Start it from another folder`)
  try {
    makeFolder(home, 0o700)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Problem(`${home} can't be made (${code}). Start it from a folder of yours`)
  }
  const folder = own ?? join(home, 'pictures')
  if (own === null && !existsSync(folder)) cpSync(SAMPLES, folder, { recursive: true })
  const hostData = join(home, 'host')
  const settings = await openSettings(join(home, 'try.json'))
  const config = join(home, 'albumd.yaml')
  const caFile = join(hostData, 'ca.pem')
  writeFileSync(join(home, 'api-key'), `${settings.apiKey}\n`, { mode: 0o600 })
  const album = own === null ? 'Sample pictures' : albumNameOf(basename(own))
  writeFileSync(config, configFor(home, { folder, album }, caFile, settings.port))
  return { folder, isSample: own === null, config, hostData, caFile, ...settings }
}

function realFolder(given: string): string {
  const folder = resolve(given)
  if (!existsSync(folder)) throw new Problem(`${folder} is not there. Name a folder that is`)
  if (!statSync(folder).isDirectory()) throw new Problem(`${folder} is not a folder. Name one`)
  return realpathSync(folder)
}

function nameFor(folder: string): string {
  const name = basename(folder)
    .replace(/[^\p{L}\p{N} ._-]/gu, '_')
    .replace(/^\.+/, '')
  return `${name.slice(0, 40)}-${hash('sha256', folder).slice(0, 8)}`
}

/** The port and the key of the trial's host. Both are kept for later starts, because a state is bound to an address. */
async function openSettings(file: string): Promise<{ port: number; apiKey: string }> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  const port = (await canListen(USUAL_PORT)) ?? (await canListen(0))!
  const settings = { port, apiKey: randomBytes(24).toString('base64url') }
  writeFileSync(file, `${JSON.stringify(settings)}\n`, { mode: 0o600 })
  return settings
}

async function canListen(port: number): Promise<number | null> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  } catch {
    return null
  } finally {
    server.close()
  }
}

function configFor(
  home: string,
  mirror: { folder: string; album: string },
  caFile: string,
  port: number,
): string {
  const config = {
    host: {
      base_url: `https://127.0.0.1:${port}/api/v1`,
      api_key_file: join(home, 'api-key'),
      ca_file: caFile,
      plan: 'flagship',
      requests_per_second: Object.fromEntries(ENDPOINTS.map(endpoint => [endpoint, 'unlimited'])),
    },
    mirrors: [mirror],
    // A person who watches a trial does not want to wait for the default grace of ten minutes.
    deletions: { grace: '10s' },
    // Any free port: what is free now may be taken when the page opens.
    status_page: { listen: '127.0.0.1:0' },
    state_dir: join(home, 'state'),
  }
  return `# Made by albumd try; written anew at each start.\n${stringify(config)}`
}
