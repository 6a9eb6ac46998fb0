import { type ExecFileOptions, execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import { expect, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { main } from '../../../src/cli/main.ts'
import { exitCodeOf, inJson, Tally } from '../../../src/cli/one-pass.ts'
import { readAccess, readConfig } from '../../../src/cli/read-config.ts'
import {
  type CommandName,
  carryOutHere,
  type RequestOf,
  type ResultOf,
} from '../../../src/daemon/commands/all.ts'
import { readStatus } from '../../../src/daemon/report/status.ts'
import { type HostOptions, startHost } from '../../../src/host/embedded-host.ts'
import { askPage } from '../../../src/page/ask.ts'
import type { SpokenEvent } from '../../../src/sync/pass-events.ts'
import { HostTree } from './host-tree.ts'

const KEY = 'stage-key-0123456789'
/** The program as it is shipped: the tests' set-up builds it. */
export const PROGRAM = join(import.meta.dirname, '../../../dist/cli/albumd.js')

/** For a config's host: more than any test sends. */
export const QUICK = { upload: 500, send: 500, list: 500, delete: 500, create_album: 500 }

/** What one run of the program left behind. */
export interface Run {
  code: number
  out: string
  err: string
}

/** A folder of pictures, a real host beside it, and the real program as a process. */
export interface Stage {
  /** Everything is below it. */
  home: string
  /** The mirrored folder. */
  pictures: string
  config: string
  baseUrl: string
  /** The one that the host knows. */
  key: string
  write(path: string, bytes: Uint8Array | string): void
  albumd(...args: string[]): Promise<Run>
  /** A command line by the program's code in this process, where the program's start would cost the most: see `runHere`. */
  here(...args: string[]): Promise<Run>
  sync(...args: string[]): Promise<Run>
  /** A command line of the program, as a shell runs it. */
  shell(line: string): Promise<Run>
  /** What a command tells other programs, asked in this process. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say which fields they expect
  json(...args: string[]): Promise<any>
  /** A command by the engine in this process: several may be asked for at once, which `here` can not. */
  asked<N extends CommandName>(
    name: N,
    request: RequestOf<N>,
    emit?: (emitted: SpokenEvent) => void,
  ): Promise<ResultOf<N>>
  /** What `sync --json` does and tells, by the engine in this process: the program's start costs ten times as much. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say which fields they expect
  pass(): Promise<any>
  /** What `status --json` tells of the records, read in this process. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say which fields they expect
  status(): Promise<any>
  /** The host's tree: an image's album path and name → SHA-256 of what its delivery address gives. */
  delivered(): Promise<Record<string, string>>
  /** The host's tree with ids: what a run that changes nothing must leave as it is. */
  listing(): Promise<string[]>
  /** The same without ids: a path as often as an image of it is there. */
  paths(): Promise<string[]>
  /** The paths of the host's albums, each as often as it is there. */
  albums(): Promise<string[]>
  configure(changes: object): void
  /** Ends the host, and starts it again with other options. */
  restartHost(changes: Partial<HostOptions>): Promise<void>
}

export interface StageOptions {
  /** Pictures by their paths, which are on the host before the test begins. */
  pictures?: Readonly<Record<string, Uint8Array>>
  host?: Partial<HostOptions>
  /** The one mirror's settings beside its folder. */
  mirror?: object
  config?: object
  /** For a disk as users have it, where fsync takes its time. */
  onDisk?: boolean
}

export async function setStage(options: StageOptions = {}): Promise<Stage> {
  const { pictures: synced = {}, host = {}, mirror = {}, config = {}, onDisk = false } = options
  const home = mkdtempSync(join(onDisk ? '/var/tmp' : realpathSync(tmpdir()), 'albumd-stage-'))
  // What was started here and killed may not be quite gone.
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  const hostOptions: HostOptions = {
    data: join(home, 'host'),
    listen: { host: '127.0.0.1', port: 0 },
    apiKeys: [KEY],
    plan: 'professional',
    tls: false,
    ...host,
    // The stage lists too, beside the program.
    requestsPerSecond: { ...host.requestsPerSecond, list: Number.POSITIVE_INFINITY },
  }
  let running = await startHost(hostOptions)
  onTestFinished(() => running.close())
  const dispatcher = new Agent(running.caFile ? { connect: { ca: readFileSync(running.caFile) } } : {})
  onTestFinished(() => dispatcher.close())
  const pictures = join(home, 'pictures')
  const configFile = join(home, 'albumd.yaml')
  mkdirSync(pictures)
  writeFileSync(join(home, 'api-key'), KEY, { mode: 0o600 })
  const settings = {
    host: {
      base_url: running.baseUrl,
      api_key_file: 'api-key',
      ...(running.caFile && { ca_file: running.caFile }),
    },
    mirrors: [{ folder: 'pictures', album: 'Photos', ...mirror }],
    watch: { settle: '100ms' },
    state_dir: 'state',
    // Tests wait for scans too.
    log: { level: 'debug' },
    // Several run at once, and there is but one usual port.
    status_page: { listen: 'off' },
    ...config,
  }
  // Whatever those who run the tests let others do with their files: doctor would have something to say.
  const configure = (changes: object) =>
    writeFileSync(configFile, stringify({ ...settings, ...changes }), { mode: 0o644 })
  configure({})

  const albumd = (...args: string[]) => runProgram([...args], home)
  const here = (...args: string[]) => runHere(args, home)
  const tree = new HostTree({
    baseUrl: running.baseUrl,
    cdnBaseUrl: running.cdnBaseUrl,
    key: KEY,
    dispatcher,
  })
  const lines = async () => {
    const found: string[] = []
    for await (const { path, id } of tree.images()) found.push(`${path} ${id}`)
    return found.sort()
  }
  const stage: Stage = {
    home,
    pictures,
    config: configFile,
    baseUrl: running.baseUrl,
    key: KEY,
    write(path, bytes) {
      mkdirSync(dirname(join(pictures, path)), { recursive: true })
      writeFileSync(join(pictures, path), bytes)
    },
    albumd,
    here,
    shell: line => runFile('sh', ['-c', `'${process.execPath}' '${PROGRAM}' ${line}`], home),
    sync: (...args) => albumd('sync', '--config', configFile, ...args),
    json: async (...args) => JSON.parse((await here(...args, '--config', configFile, '--json')).out),
    async asked<N extends CommandName>(
      name: N,
      request: RequestOf<N>,
      emit: (emitted: SpokenEvent) => void = () => {},
    ): Promise<ResultOf<N>> {
      const config = await readConfig(configFile)
      const { signal } = new AbortController()
      const interruption = { stop: signal, cut: signal }
      return carryOutHere(
        config,
        readAccess(config),
        name,
        request,
        { emit, say() {}, progress() {} },
        interruption,
      )
    },
    async pass() {
      const done = new Tally()
      const result = await stage.asked('sync', { pruneIgnored: false }, told => done.add(told))
      return inJson(exitCodeOf(result), done, result)
    },
    async status() {
      const config = await readConfig(configFile)
      return readStatus(config, Date.now(), await askPage(config))
    },
    async delivered() {
      const hashes: Record<string, string> = {}
      for await (const { path, id } of tree.images()) {
        if (path in hashes) throw new Error(`${path} is on the host twice`)
        hashes[path] = sha256(await tree.delivered(id))
      }
      return hashes
    },
    listing: lines,
    paths: async () => (await lines()).map(line => line.slice(0, line.lastIndexOf(' '))),
    albums: async () => (await tree.albums()).sort(),
    configure,
    async restartHost(changes) {
      const listen = { ...hostOptions.listen, port: running.port }
      await running.close()
      running = await startHost({ ...hostOptions, ...changes, listen })
    },
  }
  for (const [path, bytes] of Object.entries(synced)) stage.write(path, bytes)
  if (options.pictures) expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  return stage
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The environment of whoever runs the tests, without what could lead the program to another config, key or state. */
export function environmentIn(home: string): NodeJS.ProcessEnv {
  const { ALBUMD_CONFIG, ALBUMD_API_KEY, CREDENTIALS_DIRECTORY, STATE_DIRECTORY, ...rest } = process.env
  return { ...rest, HOME: home, NO_COLOR: '1' }
}

export function runProgram(args: string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<Run> {
  return runFile(process.execPath, [PROGRAM, ...args], cwd, env)
}

/** What a person hears who has waited for a busy daemon. Whether it is said is a matter of the machine's load. */
const WAITS = /^albumd: waiting until albumd has done what it is in the middle of\n/m

/** Carries a command line out in this process, as if it was given in that folder. Not two at once, because each has the
 * process's output, environment and working folder. */
export async function runHere(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Run> {
  const { said, leave } = enter(cwd, env)
  try {
    return { code: await exitCodeHere(args), out: said.stdout, err: said.stderr.replace(WAITS, '') }
  } finally {
    leave()
  }
}

/** Runs a command line in this process, which goes on without an exit code. */
export async function exitCodeHere(args: readonly string[]): Promise<number> {
  await main(args)
  const code = Number(process.exitCode ?? 0)
  process.exitCode = undefined
  return code
}

/** Gives this process the output, environment and working folder of a command until `leave` is called. */
export function enter(cwd: string, env: NodeJS.ProcessEnv) {
  const said = { stdout: '', stderr: '' }
  const outputs = (['stdout', 'stderr'] as const).map(name => {
    const own = Object.getOwnPropertyDescriptor(process, name)!
    const write: Writable['_write'] = (text, _, done) => {
      said[name] += text
      done()
    }
    Object.defineProperty(process, name, { configurable: true, value: new Writable({ write }) })
    return { name, own }
  })
  const before = { cwd: process.cwd(), env: process.env }
  process.chdir(cwd)
  process.env = { ...environmentIn(cwd), ...env }
  const leave = () => {
    process.chdir(before.cwd)
    process.env = before.env
    for (const { name, own } of outputs) Object.defineProperty(process, name, own)
  }
  return { said, leave }
}

/** Runs a file to its end. A variable of `env` that is undefined is left out. */
export function runFile(
  file: string,
  args: string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Run> {
  return execute(file, args, { cwd, env: { ...environmentIn(cwd), ...env } })
}

export function execute(file: string, args: string[], options: ExecFileOptions): Promise<Run> {
  return new Promise(resolve => {
    execFile(file, args, { ...options, maxBuffer: 64 * 2 ** 20 }, (error, out, err) => {
      // What a signal ended has no code, and is no success.
      resolve({ code: error ? Number(error.code ?? -1) : 0, out: String(out), err: String(err) })
    })
  })
}

const DAY = 86_400_000
/** Milliseconds. Longer than such a test takes, on a busy machine too. */
const TEST = 60_000

/** Waits where UTC's day is about to end: what is counted by the day would begin anew in the middle of a test. */
export async function oneDay(): Promise<void> {
  const left = DAY - (Date.now() % DAY)
  if (left < TEST) await sleep(left + 1)
}

/** What another program does with the same key, which must succeed. `path`: below {base_url}. */
// biome-ignore lint/suspicious/noExplicitAny: tests say which fields they expect
export async function call(stage: Stage, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(stage.baseUrl + path, {
    method,
    headers: { 'x-api-key': stage.key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  expect(answer).toMatchObject({ success: true })
  return answer
}

/** The id of the image at this path on the host. */
export async function idOf(stage: Stage, path: string): Promise<string> {
  const line = (await stage.listing()).find(entry => entry.startsWith(`${path} `))!
  return line.slice(path.length + 1)
}
