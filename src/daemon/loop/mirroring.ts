import type { Config } from '../../config/schema.ts'
import { PictureBuffers } from '../../local/picture-buffers.ts'
import { openPicture } from '../../local/picture-file.ts'
import { realDisk } from '../../local/real-disk.ts'
import { rememberRemotes } from '../../local/remembered-remotes.ts'
import { openScanPool, type ScanPool } from '../../local/scan-pool.ts'
import { openImageHost } from '../../remote/client.ts'
import type { RequestEvent } from '../../remote/gate/gate.ts'
import { type HostFailure, PictureChanged } from '../../remote/host.ts'
import { systemClock } from '../../sync/clock.ts'
import type { EngineContext, OpenPictureAt } from '../../sync/context.ts'
import { fileAges } from '../../sync/file-ages.ts'
import type { Interruption } from '../../sync/interruption.ts'
import { AlbumContents } from '../../sync/listing/album-contents.ts'
import { runPass } from '../../sync/pass.ts'
import { spoken, type TellSpoken } from '../../sync/pass-events.ts'
import type { MirrorPolicy, PassReport, PassTask, Scope } from '../../sync/pass-request.ts'
import { VanishedRules } from '../../sync/scan/index.ts'
import { IncompletePictures, RecoveryPace, type Verified, verifyLinks } from '../../sync/uploads/index.ts'
import type { Synced } from '../../synced/synced.ts'
import { type Reason, said } from '../../words/reasons.ts'
import { type TellSending, watchUploads } from '../report/uploads-under-way.ts'
import { blocksBefore } from '../state/blocks-before.ts'
import { hostOfOwnAccount } from '../state/own-account.ts'
import { ledgerAfter } from '../state/requests-before.ts'
import type { State } from '../state/state.ts'
import { diskWithSigns, hostWithSigns, pictureWithSigns } from '../watch/signs-of-life.ts'
import { allowanceOf } from './allowance.ts'
import { noticeBandwidth } from './bandwidth-change.ts'
import { pauseAt } from './pause.ts'

/** What differs between a command that ends and a daemon that stays. */
export interface EngineOptions {
  /** How often and how long a pass waits during an outage before it gives up. */
  patience: { attempts: number; maxDelayMs: number }
  /** How long a picture must be gone before its image is deleted. */
  graceMs: number
}

/** What the host asks for. `ca`: PEM, or null for the authorities that Node knows. */
export interface Access {
  apiKey: string
  ca: string | null
}

/** Hears of the work, besides the events of the passes. */
export interface Observer {
  requested?: ((request: RequestEvent) => void) | undefined
  sending?: TellSending | undefined
  /** Called after every step. */
  alive?: (() => void) | undefined
}

export interface PassOptions {
  /** Deletes the images of pictures that an ignore rule hides. */
  pruneIgnored?: boolean
}

export type Engine = Mirroring & { readonly parts: EngineContext }

/** The engine, put together: disk, host, clock and state. */
export interface Mirroring {
  /** While albumd is paused, the pass scans and sends nothing to the host. */
  pass(
    interruption: Interruption,
    scopeOf?: (mirror: MirrorPolicy) => Scope,
    options?: PassOptions,
  ): Promise<PassReport>
  /** Links what is pending to images that the host holds already; sends nothing. */
  adopt(interruption: Interruption): Promise<PassReport>
  /**
   * Compares the bytes of linked pictures with their images. `between` is awaited before each, so other work can be
   * done.
   */
  verifyLinks(signal: AbortSignal, between: () => Promise<void>): Promise<Verified>
  /** Asks the host for one page, to find out whether it answers and accepts the key. Null: it does. */
  greet(signal: AbortSignal): Promise<HostFailure | null>
  close(): Promise<void>
}

export function openMirroring(
  config: Config,
  { apiKey, ca }: Access,
  state: State,
  { patience, graceMs }: EngineOptions,
  tell: TellSpoken,
  { requested, sending, alive = () => {} }: Observer = {},
): Engine {
  const pools = new Map<string, ScanPool>(config.mirrors.map(({ folder }) => [folder, openScanPool(folder)]))
  const remote = openImageHost({
    baseUrl: config.host.base_url,
    siteUrl: config.host.site_url,
    apiKey,
    uploadForm: config.host.upload_form,
    ...(ca !== null && { ca }),
    timeoutMs: config.host.timeout,
    credentialLifetimeMs: config.host.credential_lifetime,
    requestsPerSecond: config.host.requests_per_second,
    concurrency: config.uploads.concurrency,
    ...(config.uploads.bandwidth !== undefined && { bandwidth: config.uploads.bandwidth }),
    patience,
    clock: { now: systemClock.monotonic, sleep: systemClock.sleep },
    blocks: blocksBefore(state.synced, config.host.plan, systemClock),
    ledger: ledgerAfter(state.lastRequest, config.host.requests_per_second),
    onRequest: request => {
      alive()
      requested?.(request)
    },
  })
  const host = hostOfOwnAccount(remote, state.synced, apiKey, systemClock)
  const buffers = new PictureBuffers()
  const openPictureAt: OpenPictureAt = async (root, path, cut) => {
    const picture = await openPicture(root, path, { changed: () => new PictureChanged(path), cut, buffers })
    alive()
    return pictureWithSigns(picture, alive)
  }
  const outside = { host: hostWithSigns(host, alive), openPicture: openPictureAt }
  const parts: EngineContext = {
    synced: state.synced,
    ...(sending ? watchUploads(outside, sending) : outside),
    disk: diskWithSigns(rememberRemotes(realDisk), alive),
    clock: systemClock,
    tell: told => tell(spoken(told)),
    lookAt: (root: string) => async batch => {
      const results = await pools.get(root)!.look(batch)
      alive()
      return results
    },
    allowance: allowanceOf(config),
    settleMs: config.watch.settle,
    incomplete: new IncompletePictures({
      afterMs: config.watch.incomplete_after,
      deed: config.watch.incomplete,
    }),
    ages: fileAges(state.synced),
    vanishedRules: new VanishedRules(systemClock),
    graceMs,
    concurrency: config.uploads.concurrency,
    order: config.uploads.order,
    hold: config.deletions,
    albumDeletions: config.deletions.albums,
    credentialLifetimeMs: config.host.credential_lifetime,
    contents: new AlbumContents(),
    pace: new RecoveryPace(),
    running: state.running,
  }
  const pass = async (
    task: PassTask,
    interruption: Interruption,
    scopeOf?: (mirror: MirrorPolicy) => Scope,
    { pruneIgnored = false }: PassOptions = {},
  ) => {
    const broken = new AbortController()
    const stop = AbortSignal.any([interruption.stop, broken.signal])
    const cut = AbortSignal.any([interruption.cut, broken.signal])
    try {
      state.check()
      await noticeBandwidth(state.synced, config.uploads.bandwidth)
      const taken = await state.lockMissing()
      for (const [folder, { message }] of taken) await guardRoot(state.synced, folder, said(message))
      const mirrors = config.mirrors
        .filter(({ folder }) => !taken.has(folder))
        .map(mirror => ({ ...mirror, pruneIgnored }))
      return await runPass(parts, { mirrors, interruption: { ...interruption, stop, cut }, scopeOf, task })
    } catch (error) {
      // What the pass does at the same time must end too.
      broken.abort()
      throw state.failed(error)
    } finally {
      buffers.letGo()
    }
  }
  return {
    parts,
    pass(interruption, scopeOf, options) {
      const isPaused = pauseAt(state.synced, systemClock.wall()) !== null
      return pass(isPaused ? 'look' : 'mirror', interruption, scopeOf, options)
    },
    async adopt(interruption) {
      const report = await pass('adopt', interruption)
      const guarded = config.mirrors.some(({ folder }) => state.synced.mirrors.of(folder)?.guard != null)
      if (report.stopped.length === 0 && !guarded && !interruption.stop.aborted)
        await state.synced.commit(tx => tx.meta.clear('restored'))
      return report
    },
    verifyLinks: (signal, between) => verifyLinks(parts, signal, between),
    async greet(signal) {
      const listed = await host.list(null, 1, signal)
      return listed.ok ? null : listed.failure
    },
    async close() {
      await host.close()
      for (const pool of pools.values()) await pool.close()
    },
  }
}

/** A mirror without a record has no image, so it needs no guard. */
async function guardRoot({ mirrors, commit }: Synced, folder: string, reason: Reason): Promise<void> {
  const row = mirrors.of(folder)
  if (row) await commit(tx => tx.mirrors.guard(row.id, { code: 'ROOT', reason }))
}
