import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { stringify } from 'yaml'
import { startHost } from '../../src/host/embedded-host.ts'
import { People } from '../e2e/kills/kill-people.ts'
import { chanceFrom } from '../e2e/kills/kill-watch.ts'
import { HostTree } from '../e2e/stage/host-tree.ts'
import { sha256 } from '../e2e/stage/stage.ts'
import { inWords, type Series } from './slope.ts'

/*
 * The real daemon beside the embedded host for minutes, while people churn files:
 * `node test/soak/real.ts --minutes 30 [--every-ms 500] [--seed 1]`. Prints how memory, descriptors and the database
 * grew, and ends with 1 where both sides are not the same at the end.
 */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    'every-ms': { type: 'string', default: '500' },
    seed: { type: 'string', default: '1' },
  },
})
const minutes = Number(values.minutes)
const everyMs = Number(values['every-ms'])
const chance = chanceFrom(Number(values.seed))

const SAMPLE_MS = 10_000
const KEY = 'soak-key-0123456789'
const PROGRAM = join(import.meta.dirname, '../../dist/cli/albumd.js')
const home = mkdtempSync(join(tmpdir(), 'albumd-soak-'))
const pictures = join(home, 'pictures')
const say = (line: string) => void process.stdout.write(`${line}\n`)

async function main(): Promise<boolean> {
  const host = await startHost({
    data: join(home, 'host'),
    listen: { host: '127.0.0.1', port: 0 },
    apiKeys: [KEY],
    plan: 'flagship',
    tls: false,
    credentialTtlMs: 2000,
    requestsPerSecond: { list: Number.POSITIVE_INFINITY },
  })
  mkdirSync(pictures)
  writeFileSync(join(home, 'api-key'), KEY, { mode: 0o600 })
  const config = join(home, 'albumd.yaml')
  writeFileSync(
    config,
    stringify({
      host: { base_url: host.baseUrl, api_key_file: 'api-key', plan: 'flagship', credential_lifetime: '2s' },
      mirrors: [{ folder: 'pictures', album: 'Photos' }],
      deletions: { grace: '1s', hold_min: 1_000_000 },
      watch: { settle: '100ms' },
      status_page: { listen: 'off' },
      state_dir: 'state',
    }),
  )
  const daemon = startDaemon(config)
  const ended = once(daemon, 'exit')
  const people = new People(pictures, chance)
  const editing = setInterval(() => {
    people.edit()
    // Nobody there takes folders away, and a tree that grows is no leak.
    if (people.edits % 20 === 0) removeEmptyFolders(pictures)
  }, everyMs)
  const series = new Map<string, { at: number; value: number }[]>()
  const began = performance.now()
  const end = began + minutes * 60_000
  while (performance.now() < end) {
    if ((await Promise.race([ended, sleep(SAMPLE_MS, null)])) !== null) break
    for (const [name, value] of sample(daemon.pid!)) {
      const samples = series.get(name) ?? []
      series.set(name, [...samples, { at: performance.now() - began, value }])
    }
  }
  clearInterval(editing)
  const tree = new HostTree({ baseUrl: host.baseUrl, cdnBaseUrl: host.cdnBaseUrl, key: KEY })
  const same = await bothSidesAgree(tree, people)
  daemon.kill('SIGTERM')
  const [code] = (await ended) as [number | null]
  report(series, people.edits, same, code)
  await host.close()
  rmSync(home, { recursive: true })
  return same && code === 0
}

/** Answers whether the folder itself is empty. */
function removeEmptyFolders(folder: string): boolean {
  let empty = true
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && removeEmptyFolders(path)) rmdirSync(path)
    else empty = false
  }
  return empty
}

function startDaemon(config: string) {
  const probe = join(import.meta.dirname, 'probe.ts')
  const args = ['--expose-gc', '--import', probe, PROGRAM, 'run', '--config', config, '--log-level', 'warn']
  return spawn(process.execPath, args, {
    cwd: home,
    env: { ...process.env, HOME: home, ALBUMD_SOAK_PROBE: join(home, 'probe') },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}

/** What can be seen of a process from outside, and its own word. */
function* sample(pid: number): Generator<[string, number]> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  yield ['RSS (MB)', 1024 * Number(/VmRSS:\s+(\d+)/.exec(status)![1])]
  yield ['threads', Number(/Threads:\s+(\d+)/.exec(status)![1])]
  const descriptors = readdirSync(`/proc/${pid}/fd`)
  yield ['descriptors', descriptors.length]
  yield ['inotify watches', descriptors.map(fd => watchesOf(pid, fd)).reduce((sum, n) => sum + n, 0)]
  for (const [name, file] of [
    ['database (MB)', 'state/albumd.db'],
    ['write-ahead log (MB)', 'state/albumd.db-wal'],
  ] as const)
    if (existsSync(join(home, file))) yield [name, statSync(join(home, file)).size]
  if (!existsSync(join(home, 'probe'))) return
  const last = readFileSync(join(home, 'probe'), 'utf8').trimEnd().split('\n').at(-1)!
  const { heap, objects, external, handles } = JSON.parse(last)
  yield ['heap after gc (MB)', heap]
  yield ['objects after gc', objects]
  yield ['external (MB)', external]
  yield ['active resources', handles]
}

function watchesOf(pid: number, fd: string): number {
  try {
    return readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8').split('inotify wd:').length - 1
  } catch {
    // Closed meanwhile.
    return 0
  }
}

/** Whether the daemon brings both sides together within five minutes of the last edit. */
async function bothSidesAgree(tree: HostTree, people: People): Promise<boolean> {
  const standing = [...people.standingSince(people.edits)]
  const wanted = standing.map(([path, hash]) => `Photos/${path} ${hash}`).sort()
  for (let tries = 0; tries < 60; tries++) {
    // An album may go while it is listed.
    const there = await held(tree).catch(() => null)
    if (there?.join('\n') === wanted.join('\n')) return true
    await sleep(5000)
  }
  return false
}

async function held(tree: HostTree): Promise<string[]> {
  const lines: string[] = []
  for await (const { path, id } of tree.images()) lines.push(`${path} ${sha256(await tree.delivered(id))}`)
  return lines.sort()
}

function report(series: Map<string, Series>, edits: number, same: boolean, code: number | null): void {
  say(`${edits} edits in ${minutes} minutes; the daemon ended with ${code}`)
  say(`both sides are ${same ? '' : 'NOT '}the same`)
  const warmUpMs = (minutes * 60_000) / 4
  for (const [name, samples] of series)
    say(inWords(name, samples, warmUpMs, name.endsWith('(MB)') ? 2 ** 20 : 1))
  const db = new Database(join(home, 'state/albumd.db'), { readonly: true })
  const tables = db.prepare<[], { name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
  const rows = tables.map(({ name }) => {
    const { n } = db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM "${name}"`).get()!
    return `${name} ${n}`
  })
  db.close()
  say(`rows: ${rows.join(', ')}`)
}

process.exitCode = (await main()) ? 0 : 1
