import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type HostOptions, startHost } from '../../src/host/embedded-host.ts'
import { type Disk, realDisk } from '../../src/local/disk.ts'
import { lookAtFolder } from '../../src/local/look.ts'
import { openScanPool } from '../../src/local/scan-pool.ts'
import { type Clock, systemClock } from '../../src/protocol/clock.ts'
import { type HostFailure, hostWith, type ImageHost } from '../../src/remote/host.ts'
import { ALONE } from '../../src/sync/claims.ts'
import { FileAges } from '../../src/sync/clock.ts'
import type { EngineContext } from '../../src/sync/context.ts'
import { AlbumContents } from '../../src/sync/listing/album-contents.ts'
import { Looks } from '../../src/sync/looks.ts'
import { runPass } from '../../src/sync/pass.ts'
import type { PassEvent } from '../../src/sync/pass-events.ts'
import type { MirrorPolicy, News, PassReport, PassTask, Scope } from '../../src/sync/pass-request.ts'
import type { Allowance } from '../../src/sync/quota/quota-state.ts'
import { VanishedRules } from '../../src/sync/scan/doubts.ts'
import { scanMirrors } from '../../src/sync/scan/mirror-scans.ts'
import { UnderWay } from '../../src/sync/under-way.ts'
import { IncompletePictures } from '../../src/sync/uploads/incomplete-pictures.ts'
import { RecoveryPace } from '../../src/sync/uploads/recovery.ts'
import { type Db, openDatabase } from '../../src/synced/database.ts'
import { openSynced, type Synced } from '../../src/synced/synced.ts'
import { inWords, said } from '../../src/words/reasons.ts'
import { UNLIMITED } from '../host/choices.ts'
import { png } from '../pictures.ts'
import { clientOf } from '../remote/client-of.ts'
import { tempFolder } from '../temp-folder.ts'
import { never, READING } from './album-stage.ts'

const KEY = 'workshop-key'
export const ALLOWANCE: Allowance = {
  plan: 'professional',
  limit: 5000,
  reserve: 0.1,
  days: null,
  probeEveryMs: 60_000,
}

/** The engine in this process, between a real folder and a real host. */
export interface Workshop {
  pictures: string
  mirror: MirrorPolicy
  db: Db
  clock: Clock
  synced: Synced
  host: ImageHost
  /** Of the host. */
  siteUrl: string
  events: PassEvent[]
  write(path: string, bytes: Uint8Array | string): void
  remove(path: string): void
  context(changes?: Partial<EngineContext>): EngineContext
  /** One pass; `changes` replace parts of the engine, such as a host that fails. */
  pass(
    changes?: Partial<EngineContext>,
    task?: PassTask,
    news?: News,
    mirrors?: readonly MirrorPolicy[],
    named?: ReadonlySet<string>,
  ): Promise<PassReport>
}

export async function openWorkshop(
  policy: Partial<MirrorPolicy> = {},
  {
    uploadForm = 'credential',
    ...of
  }: Partial<HostOptions> & { uploadForm?: EngineContext['uploadForm'] } = {},
): Promise<Workshop> {
  const home = tempFolder()
  const running = await startHost({
    data: join(home, 'host'),
    listen: { host: '127.0.0.1', port: 0 },
    apiKeys: [KEY],
    plan: 'professional',
    tls: false,
    requestsPerSecond: UNLIMITED,
    ...of,
  })
  onTestFinished(() => running.close())
  const host = clientOf(running.siteUrl, {
    apiKey: KEY,
    uploadForm,
    requestsPerSecond: UNLIMITED,
    concurrency: 4,
    patience: { attempts: 2, maxDelayMs: 10 },
  })
  const db = openDatabase(':memory:')
  const synced = openSynced(db)
  onTestFinished(() => synced.close())
  const pictures = join(home, 'pictures')
  mkdirSync(pictures)
  const pool = openScanPool(pictures, new AbortController().signal, { workers: 0 })
  const mirror: MirrorPolicy = {
    folder: pictures,
    album: 'Photos',
    deletions: 'propagate',
    ignore: [],
    ...policy,
  }
  const events: PassEvent[] = []
  const parts: Omit<EngineContext, 'vanishedRules'> = {
    synced,
    host,
    disk: realDisk,
    clock: systemClock,
    claims: ALONE,
    emit: emitted => events.push(emitted),
    lookAt: () => pool.look,
    graceMs: 0,
    graceManyMs: 0,
    isDaemon: true,
    ...READING,
    maker: null,
    allowance: ALLOWANCE,
    settleMs: 0,
    incomplete: new IncompletePictures({ afterMs: 600_000, action: 'leave' }),
    ages: new FileAges(null),
    concurrency: 4,
    order: 'newest',
    hold: { hold_above: 0.25, hold_min: 20 },
    credentialLifetimeMs: 60_000,
    contents: new AlbumContents(),
    pace: new RecoveryPace(),
    uploadForm,
    running: () => 0,
  }
  const never = new AbortController().signal
  // Each as that of another process, which knows nothing of the last one's time.
  const context = (changes: Partial<EngineContext> = {}) => ({
    ...parts,
    vanishedRules: new VanishedRules(systemClock),
    ...changes,
  })
  return {
    pictures,
    context,
    mirror,
    db,
    clock: systemClock,
    synced,
    host,
    siteUrl: running.siteUrl,
    events,
    write(path, bytes) {
      mkdirSync(dirname(join(pictures, path)), { recursive: true })
      writeFileSync(join(pictures, path), bytes)
    },
    remove: path => rmSync(join(pictures, path), { recursive: true }),
    pass: (changes, task, news, mirrors = [mirror], named) =>
      runPass(context(changes), {
        mirrors,
        interruption: { stop: never, cut: never, ...(news && { news }) },
        task,
        named,
      }),
  }
}

export const START = Date.parse('2026-11-21T10:00:00Z')

/** A pass so many minutes after START, which asks about a used-up quota each 15 minutes, and waits for nothing. */
export function passAt(
  workshop: Workshop,
  minutes: number,
  changes: Partial<EngineContext> = {},
  mirrors?: readonly MirrorPolicy[],
): Promise<PassReport> {
  const passed = minutes * 60_000
  const monotonic = () => workshop.clock.monotonic() + passed
  const clock = { ...workshop.clock, wall: () => START + passed, monotonic, sleep: async () => {} }
  const allowance = { ...ALLOWANCE, probeEveryMs: 15 * 60_000 }
  return workshop.pass({ allowance, clock, ...changes }, 'mirror', undefined, mirrors)
}

export const red = png(3, 2, 10).bytes
export const green = png(3, 2, 20).bytes

type Pictures = Readonly<Record<string, Uint8Array | string>>

/** One whose pictures, by their paths, are on the disk alone. */
export async function openWith(
  pictures: Pictures,
  ...how: Parameters<typeof openWorkshop>
): Promise<Workshop> {
  const workshop = await openWorkshop(...how)
  for (const [path, bytes] of Object.entries(pictures)) workshop.write(path, bytes)
  return workshop
}

/** So many small pictures, no two alike. */
export const many = (pictures: number): Pictures =>
  Object.fromEntries(Array.from({ length: pictures }, (_, n) => [`${n}.png`, png(2, 2 + n).bytes]))

export async function workshopWith(
  pictures: Pictures,
  policy: Partial<MirrorPolicy> = {},
): Promise<Workshop> {
  const workshop = await openWith(pictures, policy)
  await workshop.pass()
  return workshop
}

/** One with red and green on the host, and red gone from the disk since. */
export async function openWithoutRed(): Promise<Workshop> {
  const workshop = await workshopWith({ 'red.png': red, 'green.png': green })
  workshop.remove('red.png')
  return workshop
}

export const summary = ({ synced }: Workshop) => synced.summaries.mirror(1)

export const count = ({ events }: Workshop, event: string) =>
  events.filter(emitted => emitted.event === event).length

export const deleted = (workshop: Workshop) => count(workshop, 'image_deleted')

export function lookingAt(disk: Disk): EngineContext['lookAt'] {
  return root => async batch => batch.map(folder => lookAtFolder(disk, root, folder))
}

/** An outcome that the host answers, or that comes of not reaching it. */
export function failure(
  remedy: HostFailure['remedy'],
  code: string,
  endpoint: HostFailure['endpoint'],
  more: Partial<HostFailure> = {},
) {
  return {
    ok: false as const,
    failure: { remedy, code, endpoint, message: said(`the host said ${code}`), ...more },
  }
}

/** Only scans, these mirrors in this order. */
export async function scan(
  { synced, mirror }: Workshop,
  { mirrors = [mirror], disk = realDisk, scope = 'everything' as Scope } = {},
): Promise<void> {
  const parts = {
    synced,
    disk,
    clock: systemClock,
    emit() {},
    vanishedRules: new VanishedRules(systemClock),
    graceMs: 0,
    running: () => 0,
  }
  await scanMirrors(parts, {
    mirrors,
    scopeOf: () => scope,
    looks: new Looks(lookingAt(disk)),
    underWay: new UnderWay(() => {}),
    interruption: { stop: never },
  })
}

export async function imagesOn({ host }: Workshop): Promise<string[]> {
  const names: string[] = []
  const walk = async (album: string | null): Promise<void> => {
    const page = await host.list(album, 1, never)
    if (!page.ok) throw new Error(inWords(page.failure.message))
    for (const image of page.value.images) names.push(image.name ?? image.id)
    for (const { id } of page.value.albums) await walk(id)
  }
  await walk(null)
  return names.sort()
}

/** The host, with the names of the pictures that are sent written down. */
export function counting(host: ImageHost, sent: string[]): ImageHost {
  return hostWith(host, {
    send(credential, picture, signal) {
      sent.push(picture.fileName)
      return host.send(credential, picture, signal)
    },
  })
}

export const withoutQuota = (host: ImageHost): ImageHost =>
  hostWith(host, {
    requestUpload: async () => failure('quota', 'DAILY_LIMIT_REACHED', 'upload', { status: 429 }),
  })

/** Delivery addresses that can't be reached. */
export const unreachable: ImageHost['fetchDelivered'] = async () => ({
  ok: false,
  code: 'HOST_UNREACHABLE',
  message: said('no route'),
})

/** The same, and step 1 of an upload tells no address. */
export const unaddressed = ({ requestUpload }: ImageHost): Partial<ImageHost> => ({
  fetchDelivered: unreachable,
  requestUpload: async (...args) => {
    const granted = await requestUpload(...args)
    return granted.ok ? { ok: true, value: { ...granted.value, cdnUrl: null } } : granted
  },
})
