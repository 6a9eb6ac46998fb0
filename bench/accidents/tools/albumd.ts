import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { stringify } from 'yaml'
import { freePort } from '../../../test/free-port.ts'
import { waitFor } from '../../measure/wait.ts'
import { PROGRAM } from '../../ours/workspace.ts'
import { giveToUser, hashesBelow, type Place } from '../place.ts'
import { Program } from '../program.ts'
import { passes, type RemoteSide, type Tool, unchanged, type Variant } from './tool.ts'

/** Ten minutes by default. Here it is as short as an accident that goes on, so that a cell ends. */
const GRACE = '5s'

interface Host extends RemoteSide {
  baseUrl: string
  stop(): Promise<void>
}

/** The embedded host, seen by what lies on its disk. */
async function hostIn(place: Place): Promise<Host> {
  const data = join(place.home, 'host')
  const listen = `127.0.0.1:${await freePort()}`
  const rates = ['upload', 'send', 'list', 'delete', 'create_album'].map(name => `${name}=unlimited`).join()
  const args = [
    'host',
    '--data',
    data,
    '--api-key',
    'accidents',
    '--listen',
    listen,
    '--no-tls',
    '--credential-ttl',
    '10s',
    '--rates',
    rates,
  ]
  const program = new Program(process.execPath, [PROGRAM, ...args], join(place.home, 'host.log'), {
    HOME: place.home,
  })
  await waitFor('the host', () => (/http:\/\//.test(program.said()) ? true : null), { limitSeconds: 60 })
  const db = new Database(join(data, 'host.db'), { readonly: true })
  const images = db.prepare<[], { file: string }>('SELECT file FROM images ORDER BY seq')
  return {
    baseUrl: `http://${listen}/api/v1`,
    shown() {
      const kept = new Map(
        [...hashesBelow(join(data, 'pictures/kept'))].map(([path, hash]) => [path.split('/').at(-1)!, hash]),
      )
      return images.all().flatMap(({ file }) => kept.get(file) ?? [])
    },
    kept: () => [],
    signature: () =>
      images
        .all()
        .map(({ file }) => file)
        .join(),
    async stop() {
      db.close()
      await program.stop()
    },
  }
}

interface Settings {
  deletions: 'propagate' | 'keep'
  grace: string
}

function configIn(place: Place, baseUrl: string, { deletions, grace }: Settings): string {
  const config = join(place.home, 'albumd.yaml')
  const unlimited = {
    upload: 'unlimited',
    send: 'unlimited',
    list: 'unlimited',
    delete: 'unlimited',
    create_album: 'unlimited',
  }
  const written = {
    host: {
      base_url: baseUrl,
      api_key_file: 'key',
      credential_lifetime: '10s',
      requests_per_second: unlimited,
    },
    mirrors: [{ folder: place.pictures, album: 'Photos', deletions }],
    deletions: { grace },
    status_page: { listen: 'off' },
    state_dir: 'state',
    log: { format: 'json' },
  }
  writeFileSync(config, stringify(written))
  writeFileSync(join(place.home, 'key'), 'accidents\n', { mode: 0o600 })
  giveToUser(place.home)
  return config
}

async function albumd(place: Place, settings: Settings, isDaemon: boolean): Promise<Tool> {
  giveToUser(place.home)
  const host = await hostIn(place)
  const config = configIn(place, host.baseUrl, settings)
  const env = { HOME: place.home, NO_COLOR: '1' }
  const log = join(place.home, 'albumd.log')
  let commands = 0

  async function command(...args: string[]): Promise<string> {
    const line = [PROGRAM, ...args, '--config', config]
    const program = new Program(process.execPath, line, join(place.home, `command-${commands++}.log`), env)
    await program.endedWithin(120)
    return program.said()
  }

  const common = {
    loseState: () => rmSync(join(place.home, 'state'), { recursive: true }),
    async bringBack(into: string, at: Date) {
      await command('restore', into, '--at', at.toISOString())
    },
    close: () => host.stop(),
  }
  if (!isDaemon) {
    const line = () => [process.execPath, PROGRAM, 'sync', '--config', config] as const
    const trouble = /held|many:|doubt|guard|another|missing/i
    return { ...passes({ place, side: host, line, env, trouble }), ...common }
  }
  let program: Program | null = null
  let read = 0
  return {
    ...host,
    ...common,
    async start() {
      program = new Program(process.execPath, [PROGRAM, 'run', '--config', config], log, env)
    },
    // Longer than the grace. What may still arrive is waited for as long as its credential lives.
    settle: () => unchanged(() => `${host.signature()} ${program!.said().length}`, 14),
    stop: async () => program?.stop(),
    kill: async () => program?.kill(),
    async told() {
      const said = program!.said()
      const lines = said.slice(read).split('\n').filter(isWarning)
      read = said.length
      const status = await command('status', '--json')
      const guarded = /"state": ?"(?:guarded|blocked)"/.exec(status)
      const held = /"held_deletions": ?[1-9]\d*/.exec(status)
      return [...lines, ...[guarded, held].flatMap(found => found?.[0] ?? [])]
    },
  }
}

function isWarning(line: string): boolean {
  const level = /"level":"?(\w+)/.exec(line)?.[1] ?? ''
  return /warn|error|fatal|^[456]0$/.test(level)
}

const OURS = { tool: 'albumd', needs: [] } as const
export const ALBUMDS: readonly Variant[] = [
  { ...OURS, how: 'default', make: place => albumd(place, { deletions: 'propagate', grace: GRACE }, true) },
  {
    ...OURS,
    how: 'by cron: `albumd sync`',
    make: place => albumd(place, { deletions: 'propagate', grace: GRACE }, false),
  },
  {
    ...OURS,
    how: '`deletions: keep`',
    make: place => albumd(place, { deletions: 'keep', grace: GRACE }, true),
  },
  {
    ...OURS,
    how: '`grace: 30d`',
    make: place => albumd(place, { deletions: 'propagate', grace: '30d' }, true),
  },
]
