import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, vi } from 'vitest'
import type { HostOptions } from '../../../src/host/embedded-host.ts'
import { systemClock } from '../../../src/protocol/clock.ts'
import { albumPathOf } from '../../../src/sync/album.ts'
import { mayArriveFor } from '../../../src/sync/clock.ts'
import { UNLIMITED } from '../../host/choices.ts'
import { png } from '../../pictures.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { type Process, startAlbumd } from './process.ts'
import { QUICK, type Run, type Stage, type StageOptions, setStage, sha256 } from './stage.ts'

/** How long albumd waits for an answer where nothing else is said. */
const USUAL = '60s'
/** How long credentials live where nothing else is said (§8). */
const USUAL_TTL_MS = 600_000
/** For a stage whose daemon waits until a credential has ended, because the clocks of a running daemon do not leap. Not
 * shorter: on a busy machine an upload takes seconds, and the credential would end before it is used. */
export const SOON = { host: { credentialTtlMs: 15_000 }, access: { credential_lifetime: '15s' } }

/** A stage whose host is reached through a proxy alone, without the hold. */
export interface FaultStage extends Stage {
  proxy: FaultProxy
  /** From here on albumd waits for answers as long as it usually does, whatever the stage was set with. */
  waitLonger(): void
  /** Lets the life of a credential pass, on a stage where it passes by this alone. */
  leap?(): Promise<void>
}

export interface FaultStageOptions {
  host?: Partial<HostOptions>
  /** Of the config's `host`. A timeout of a second is for answers that do not come: on a busy machine some that do come
   * are lost by it. */
  access?: object
  deletions?: object
  /** Writes what is mirrored before anything goes wrong. */
  before?: (stage: Stage) => void
  onDisk?: boolean
}

export async function setFaultStage(options: FaultStageOptions = {}): Promise<FaultStage> {
  const stage = await setStage({
    host: { requestsPerSecond: UNLIMITED, ...options.host },
    onDisk: options.onDisk ?? false,
  })
  const proxy = await startFaultProxy(stage.baseUrl)
  const configure = (access: object) =>
    stage.configure({
      host: {
        base_url: proxy.baseUrl,
        api_key_file: 'api-key',
        requests_per_second: QUICK,
        ...access,
      },
      deletions: { grace: '300ms', hold_min: 1_000_000, ...options.deletions },
    })
  if (options.before) {
    // With all the time of the world: on a busy machine the first answers too would be lost, and only acknowledged uploads
    // show how delivery addresses are built from ids.
    configure({ ...options.access, timeout: USUAL })
    options.before(stage)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  }
  configure({ ...options.access })
  return { ...stage, proxy, waitLonger: () => configure({ ...options.access, timeout: USUAL }) }
}

const KILL_AT = import.meta.resolve('../kills/kill-at.ts')

export interface LeapingStage extends FaultStage {
  leap(): Promise<void>
  /** Of albumd's processes. */
  env: NodeJS.ProcessEnv
}

/** By how many milliseconds the clocks of a stage's passes are ahead. Those of other stages and of the hosts are not. */
const clocksAhead = new AsyncLocalStorage<number>()

/** Lets the passes of leaping stages have their own time until the test ends, as `env` lets processes have it. */
function letClocksLeap(): void {
  if (vi.isMockFunction(Date.now)) return
  const { now } = Date
  const { bigint } = process.hrtime
  const byHowMuch = () => clocksAhead.getStore() ?? 0
  vi.spyOn(Date, 'now').mockImplementation(() => now() + byHowMuch())
  vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => bigint() + BigInt(byHowMuch()) * 1_000_000n)
  onTestFinished(() => void vi.restoreAllMocks())
}

/** A stage where the life of a credential passes in leaps of the clocks of the host, of the stage's passes and commands in
 * this process, and of processes with its `env`. */
export async function setLeapingStage(options: FaultStageOptions = {}): Promise<LeapingStage> {
  letClocksLeap()
  let ahead = 0
  const { wall, monotonic } = systemClock
  const clock = { wall: () => wall() + ahead, monotonic: () => monotonic() + ahead }
  const stage = await setFaultStage({ ...options, host: { ...options.host, clock } })
  return {
    ...stage,
    pass: () => clocksAhead.run(ahead, stage.pass),
    here: (...args) => clocksAhead.run(ahead, () => stage.here(...args)),
    json: (...args) => clocksAhead.run(ahead, () => stage.json(...args)),
    env: {
      NODE_OPTIONS: `--import=${KILL_AT}`,
      get ALBUMD_CLOCK_AHEAD() {
        return String(ahead)
      },
    },
    async leap() {
      // What is on the way arrives before its time passes: a creation of an album never ends too late.
      await stage.proxy.quiet()
      ahead += mayArriveFor(USUAL_TTL_MS) + 1
    },
  }
}

/** Runs `sync` until it finds that both sides agree. Answers the runs. Throws where so many were not enough. */
export async function syncUntilDone(stage: LeapingStage, most = 25): Promise<Run[]> {
  const runs: Run[] = []
  while (runs.at(-1)?.code !== 0) {
    if (runs.length === most) {
      const { code, out, err } = runs.at(-1)!
      const status = JSON.stringify(await stage.status(), null, 1)
      throw new Error(`sync did not come to its end, the last with ${code}:\n${out}${err}${status}`)
    }
    if (runs.length > 0) await stage.leap()
    const run = await stage.here('sync')
    if (run.code !== 0 && run.code !== 3)
      throw new Error(`sync ended with ${run.code}:\n${run.out}${run.err}`)
    runs.push(run)
  }
  return runs
}

/** The same by passes of this process, as often as a process could make them. Answers how many. */
export async function passUntilDone(stage: Stage & Pick<FaultStage, 'leap'>, most = 400): Promise<number> {
  for (let passes = 1; passes <= most; passes++) {
    const { exit_code } = await stage.pass()
    if (exit_code === 0) return passes
    expect(exit_code).toBe(3)
    // More than half of a small mirror is held, whatever the config, until a person approves.
    if (passes % 10 === 0) await stage.asked('deletions', { action: 'approve' })
    if (stage.leap) await stage.leap()
    else await pause(300)
  }
  throw new Error(`passes did not come to their end: ${JSON.stringify(await stage.status(), null, 1)}`)
}

const ALBUM_DEPTH_MAX = 10

/** What the host should hold: an image's album path and name → SHA-256 of the file's bytes. */
export function localTree({ pictures }: Stage): Record<string, string> {
  const tree: Record<string, string> = {}
  for (const entry of readdirSync(pictures, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    // Deeper than the host's albums may be, a picture is in the nearest album above (§8).
    const album = albumPathOf('Photos', entry.parentPath.slice(pictures.length + 1)).slice(0, ALBUM_DEPTH_MAX)
    tree[[...album, entry.name].join('/')] = sha256(readFileSync(join(entry.parentPath, entry.name)))
  }
  return tree
}

/** Both sides hold the same, once each, in albums without twins; the status has nothing to say; a further run sends and
 * deletes no image. */
export async function expectInSync(stage: Stage): Promise<void> {
  // `delivered` throws where an image is there twice.
  expect(await stage.delivered()).toEqual(localTree(stage))
  const albums = await stage.albums()
  expect(albums).toEqual([...new Set(albums)])
  const { mirrors, failures, blocks } = await stage.status()
  expect(mirrors).toMatchObject([
    {
      state: 'idle',
      reason: null,
      uncertain: 0,
      linked: 0,
      pending_uploads: 0,
      pending_deletions: 0,
      held_deletions: 0,
      failed: 0,
    },
  ])
  expect({ failures, blocks }).toEqual({ failures: [], blocks: [] })
  const before = await stage.listing()
  // Emptied albums may still go: they are looked at twice, a credential's life apart.
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0, deleted: 0, albums_made: 0 })
  expect(await stage.listing()).toEqual(before)
}

/** Slow enough that something can happen in the middle. */
const SLOWLY = { requests_per_second: { upload: 10, list: 500, delete: 500, create_album: 500 } }

export function writePictures(stage: Stage, from: number, to: number): void {
  for (let n = from; n < to; n++) stage.write(`${n % 3}/${n}.png`, png(2 + n, 2).bytes)
}

/** With so many pictures, of which nothing was sent yet. `life`: of its credentials, where not the usual one. */
export async function stageOf(pictures: number, life: Partial<typeof SOON> = {}): Promise<LeapingStage> {
  const stage = await setLeapingStage({ ...life, access: { ...SLOWLY, ...life.access } })
  writePictures(stage, 0, pictures)
  return stage
}

const uploads = (process: Process) => process.out().match(/picture_uploaded|^uploaded /gm)?.length ?? 0
export const uploaded = (process: Process, atLeast: number) =>
  expect.poll(() => uploads(process)).toBeGreaterThanOrEqual(atLeast)
export const says = (process: Process, what: RegExp) => expect.poll(process.out).toMatch(what)

export function loseState({ home }: Stage): void {
  for (const name of readdirSync(join(home, 'state')))
    if (name.startsWith('albumd.db')) rmSync(join(home, 'state', name))
}

/** One line for a person: nothing of a stack. */
export function oneLine(text: string, what: RegExp): void {
  expect(text.trimEnd().split('\n')).toHaveLength(1)
  expect(text).toMatch(/^albumd: /)
  expect(text).toMatch(what)
}

/** Ends a daemon, which must have told no person of anything. */
export async function ended(daemon: Process): Promise<void> {
  daemon.kill('SIGTERM')
  expect(await daemon.ended).toEqual({ code: 0, signal: null })
  expect(daemon.err()).toBe('')
}

/** Ends a daemon and lets passes finish: the daemon may have ended while it compared pictures that were fresh. */
export async function endedInSync(daemon: Process, stage: Stage): Promise<void> {
  await ended(daemon)
  await passUntilDone(stage)
  await expectInSync(stage)
}

/** A daemon that has sent some of so many pictures. */
export async function runMidway(pictures: number, sent = 3) {
  const stage = await stageOf(pictures, SOON)
  const daemon = startAlbumd(stage, ['run'])
  await uploaded(daemon, sent)
  return { stage, daemon }
}

/** A `sync` that has sent some of so many pictures. */
export async function syncMidway(pictures: number) {
  const stage = await stageOf(pictures)
  const sync = startAlbumd(stage, ['sync'])
  await uploaded(sync, 3)
  return { stage, sync }
}

/** After the records were made anew: nothing was sent again, and nothing went. */
export async function expectTheSame(stage: Stage, before: string[]): Promise<void> {
  expect(await stage.listing()).toEqual(before)
  expect(await stage.delivered()).toEqual(localTree(stage))
  expect((await stage.status()).mirrors).toMatchObject([
    { pending_uploads: 0, pending_deletions: 0, failed: 0, uncertain: 0 },
  ])
}

/** A stage without limits on requests, and without the hold. */
export function setting(options: StageOptions = {}): Promise<Stage> {
  return setStage({
    host: { requestsPerSecond: UNLIMITED },
    ...options,
    config: { deletions: { hold_min: 1_000_000 }, ...options.config },
  })
}

/** Short-lived credentials end all doubt soon: about what a lost state had sent, and about empty albums. Not shorter: on
 * a busy machine an upload takes seconds. */
export function configure(stage: Stage, changes: object = {}, baseUrl = stage.baseUrl): void {
  stage.configure({
    host: {
      base_url: baseUrl,
      api_key_file: 'api-key',
      requests_per_second: QUICK,
      credential_lifetime: '10s',
    },
    deletions: { hold_min: 1_000_000 },
    ...changes,
  })
}

export function move(stage: Stage, from: string, to: string): void {
  mkdirSync(dirname(join(stage.pictures, to)), { recursive: true })
  renameSync(join(stage.pictures, from), join(stage.pictures, to))
}

/** One pass that leaves nothing over, and both sides are the same. */
export async function syncs(stage: Stage): Promise<void> {
  expect(await stage.sync()).toMatchObject({ code: 0, err: '' })
  expect(await stage.delivered()).toEqual(localTree(stage))
}
