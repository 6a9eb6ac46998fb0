import type { Config } from '../../config/schema.ts'
import { type Disk, realDisk } from '../../local/disk.ts'
import { PictureBuffers } from '../../local/picture-buffers.ts'
import { openPicture } from '../../local/picture-file.ts'
import { openScanPool } from '../../local/scan-pool.ts'
import type { Maker } from '../../local/sent-picture.ts'
import { systemClock } from '../../protocol/clock.ts'
import { pictureReader } from '../../protocol/likeness/likeness.ts'
import { retried } from '../../records/pictures.ts'
import { hostWith, type PictureBody, PictureChanged } from '../../remote/host.ts'
import type { SharedAccount } from '../../shared/account.ts'
import type { AlbumClaims } from '../../shared/claims.ts'
import { ALONE } from '../../sync/claims.ts'
import type { EngineContext, OpenPictureAt } from '../../sync/context.ts'
import { rememberingDelivery, tellingLostAlbums } from '../../sync/listing/index.ts'
import { runPass } from '../../sync/pass.ts'
import { spoken } from '../../sync/pass-events.ts'
import type { Interruption, MirrorPolicy, PassReport, PassTask, Scope } from '../../sync/pass-request.ts'
import { QuotaLedger } from '../../sync/quota/index.ts'
import { quotaIsUsedUp } from '../../sync/uploads/index.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Bus } from '../events.ts'
import { recordMachines } from '../report/machines.ts'
import { blocksBefore, noteWait, startRequests, waitsBefore } from '../state/last-process.ts'
import { hostOfOwnAccount, isNewKey } from '../state/own-account.ts'
import { pauseAt } from '../state/pause.ts'
import type { State } from '../state/state.ts'
import { type Access, openRemote } from './remote.ts'
import { heicConverterOf, makerOf, memoryAtStart, settingsOf } from './settings.ts'

export interface EngineOptions {
  /** How many failures of the host a pass waits out, and for how long at most: see `Patience`. */
  patience: { attempts: number; maxDelayMs: number }
  isDaemon: boolean
  /** What the machines of the account share. Null: this machine works as if it had the account alone. */
  shared: SharedAccount | null
  /** This machine's claims on its albums. Null: it works as if it had the account alone. */
  claims: AlbumClaims | null
}

export interface PassOptions {
  /** What is scanned, by the mirror's folder; mirrors that are not named are not scanned. Undefined: everything is scanned. */
  scope?: ReadonlyMap<string, Scope> | undefined
  pruneIgnored?: boolean
  /** Sends and deletes only what is at and below these absolute paths. */
  named?: ReadonlySet<string> | undefined
  /** `mirror` only for the daemon's own passes, and where a person asked for deletions too: see `PassTask`. */
  task?: 'mirror' | 'retry' | 'put'
}

export type Engine = ReturnType<typeof openEngine>

export function openEngine(
  config: Config,
  access: Access,
  state: State,
  { patience, isDaemon, claims, shared }: EngineOptions,
  bus: Bus,
) {
  const remote = openRemote(config.host, access, state.earlier, shared?.windowOf, {
    concurrency: config.uploads.concurrency,
    ...(config.uploads.bandwidth !== undefined && { bandwidth: config.uploads.bandwidth }),
    patience,
    begins: () => state.synced.commit(startRequests),
    blocks: blocksBefore(state.synced, config.host.plan, systemClock),
    waits: waitsBefore(state.synced),
    onLongWait(wait) {
      // The error needs no report: when the state has failed, the pass fails too, and reports it.
      state.synced.commit(tx => noteWait(tx, wait)).catch(() => {})
    },
    onRequest: request => {
      bus.alive()
      bus.publish('request', request)
    },
  })
  const ofOwnAccount = hostOfOwnAccount(remote, state.synced, access.apiKey, systemClock)
  const host = tellingLostAlbums(rememberingDelivery(ofOwnAccount, state.synced), state.synced, systemClock)
  const buffers = new PictureBuffers()
  const openPictureAt: OpenPictureAt = (root, path, cut) =>
    openPicture(root, path, { changed: () => new PictureChanged(path), cut, buffers })
  const heics = heicConverterOf(config)
  const world = {
    disk: realDisk,
    host,
    openPicture: openPictureAt,
    pictures: pictureReader,
    maker: makerOf(config, heics?.sending),
  }
  const context: EngineContext = {
    synced: state.synced,
    ...observed(world, bus),
    clock: systemClock,
    claims: claims ?? ALONE,
    others: shared?.others,
    emit: emitted => {
      bus.alive()
      bus.publish('pass', spoken(emitted))
    },
    lookAt(root, ended) {
      const pool = openScanPool(root, ended)
      return async batch => {
        const results = await pool.look(batch)
        bus.alive()
        return results
      }
    },
    ...settingsOf(config, isDaemon),
    ...memoryAtStart(config, state.synced),
    running: state.running,
  }
  if (shared) recordMachines(shared, state.synced, systemClock.wall, bus.note)
  shared?.onRefused(({ resumesInMs }) => {
    const refusal = { ...quotaIsUsedUp, ...(resumesInMs !== null && { retryAfterMs: resumesInMs }) }
    remote.block(refusal)
    const ledger = new QuotaLedger(context)
    // A failure is ignored: when the state has failed, the pass fails too.
    state.synced.commit(tx => ledger.hearRefusal(tx, refusal)).catch(() => {})
  })
  const pass = async (
    task: PassTask,
    interruption: Interruption,
    scopeOf?: (mirror: MirrorPolicy) => Scope,
    { pruneIgnored = false, named }: PassOptions = {},
  ) => {
    const broken = new AbortController()
    const stop = AbortSignal.any([interruption.stop, broken.signal])
    const cut = AbortSignal.any([interruption.cut, broken.signal])
    try {
      await noticeSetting(state.synced, 'bandwidth', config.uploads.bandwidth, 'TOO_SLOW')
      await noticeSetting(state.synced, 'strip', config.uploads.strip, 'METADATA_STAY')
      await noticeSetting(state.synced, 'convert', heics ? 'heic' : '', 'NOT_A_PICTURE')
      const taken = state.lockMissing()
      for (const [folder, { why }] of taken) await guardRoot(state.synced, folder, why)
      const mirrors = config.mirrors
        .filter(({ folder }) => !taken.has(folder))
        .map(mirror => ({ ...mirror, pruneIgnored }))
      return await runPass(context, {
        mirrors,
        interruption: { ...interruption, stop, cut },
        scopeOf,
        task,
        named,
        isKeyNew: isNewKey(state.synced, access.apiKey),
      })
    } catch (error) {
      // Ends the other uploads and requests of the pass that are still under way.
      broken.abort()
      throw state.failed(error)
    } finally {
      buffers.letGo()
    }
  }
  return {
    context,
    /** While albumd is paused, the pass scans and sends nothing to the host. */
    pass(interruption: Interruption, scopeOf?: (mirror: MirrorPolicy) => Scope, options?: PassOptions) {
      const isPaused = pauseAt(state.synced, systemClock.wall()) !== null
      return pass(isPaused ? 'look' : (options?.task ?? 'mirror'), interruption, scopeOf, options)
    },
    async adopt(interruption: Interruption): Promise<PassReport> {
      const report = await pass('adopt', interruption)
      const guarded = config.mirrors.some(({ folder }) => state.synced.mirrors.of(folder)?.guard != null)
      if (report.stopped.length === 0 && !guarded && !interruption.stop.aborted)
        await state.synced.commit(({ meta }) => meta.clear('restored'))
      return report
    },
    note: bus.note,
    /** Closes the host. Returns the requests that the next process must count, for `State.close`. */
    close() {
      heics?.stop()
      return host.close()
    },
  }
}

/** Guards a mirror's root. A mirror without a record has no image, and so needs no guard. */
async function guardRoot({ mirrors, commit }: Synced, folder: string, reason: Reason): Promise<void> {
  const row = mirrors.of(folder)
  if (row) await commit(tx => tx.mirrors.guard(row.id, { code: 'ROOT', reason }))
}

/** Notices another value of a key of `uploads`: pictures that failed with this code by the old one are tried at once. */
async function noticeSetting(
  { meta, failures, commit }: Synced,
  key: 'bandwidth' | 'strip' | 'convert',
  value: number | string | undefined,
  code: string,
): Promise<void> {
  const named = String(value ?? '')
  if ((meta.get(key) ?? '') === named) return
  await commit(tx => {
    tx.meta.set(key, named)
    retried(tx, failures.uploadsOfCode(code))
  })
}

type World = Pick<EngineContext, 'disk' | 'host' | 'openPicture' | 'pictures' | 'maker'>

/** How often `alive` is published while a picture is fetched or made. When nothing comes, `host.timeout` or the maker ends it. */
const WAITING_MS = 30_000
/** The size of the pieces in which a picture in memory is sent, so that `sending` can say how far it is. */
const PIECE = 64 * 1024

/** Publishes `alive` at every step of disk, host and pictures, because silence shows a disk that hangs; and `sending`. */
function observed({ disk, host, openPicture, pictures, maker }: World, bus: Bus): World {
  // Where the picture of each body lies. A body holds only the file's name, so its `chunks` are the key.
  const locations = new WeakMap<PictureBody['chunks'], { mirror: string; path: string }>()
  const noted =
    (make: Maker): Maker =>
    async (open, ...rest) => {
      const timer = setInterval(bus.alive, WAITING_MS).unref()
      const made = await make(open, ...rest).finally(() => clearInterval(timer))
      bus.alive()
      if (typeof made === 'object') locations.set(made.chunks, locations.get(open.chunks)!)
      return made
    }
  return {
    pictures,
    maker: maker && noted(maker),
    disk: diskWithSigns(disk, bus.alive),
    async openPicture(mirror, path, cut) {
      const picture = await openPicture(mirror, path, cut)
      bus.alive()
      const chunks = () => counted(picture.chunks(), bus.alive)
      locations.set(chunks, { mirror, path })
      return { ...picture, chunks }
    },
    // Requests through the gate need no wrapper, because `onRequest` publishes `alive` for each.
    host: hostWith(host, {
      async send(credential, picture, signal) {
        const location = locations.get(picture.chunks)
        if (!location || !bus.hears('sending')) return host.send(credential, picture, signal)
        const { bytes, framed: _framed, ...body } = picture
        const told = (sent: number | null) => bus.publish('sending', { ...location, size: body.size, sent })
        const chunks = () => counted(bytes ? slices(bytes) : body.chunks(), told)
        told(0)
        try {
          return await host.send(credential, { ...body, chunks }, signal)
        } finally {
          told(null)
        }
      },
      async fetchDelivered(...args) {
        const timer = setInterval(bus.alive, WAITING_MS).unref()
        try {
          return await host.fetchDelivered(...args)
        } finally {
          clearInterval(timer)
        }
      },
    }),
  }
}

/** Passes the chunks on, and calls `told` with the sum of their bytes. A chunk counts when the next one is asked for. */
async function* counted(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  told: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunks) {
    yield chunk
    bytes += chunk.byteLength
    told(bytes)
  }
}

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE) yield bytes.subarray(at, at + PIECE)
}

function diskWithSigns(disk: Disk, alive: () => void): Disk {
  const told = <T>(result: T) => {
    alive()
    return result
  }
  return {
    ...disk,
    readFolder: path => told(disk.readFolder(path)),
    lstat: path => told(disk.lstat(path)),
    readText: path => told(disk.readText(path)),
    mountPoints: folder => told(disk.mountPoints(folder)),
  }
}
