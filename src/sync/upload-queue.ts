import type { Disk } from '../local/disk.ts'
import type { HostFailure, ImageHost } from '../remote/host.ts'
import type { FileRow } from '../synced/files.ts'
import type { Synced } from '../synced/synced.ts'
import { albumPathOf } from './album-name.ts'
import type { Clock } from './clock.ts'
import { mayArriveFor } from './credential-life.ts'
import type { Interruption } from './interruption.ts'
import type { ScannedMirror } from './mirror-scans.ts'
import { isMount } from './mounts.ts'
import type { Tell } from './pass-events.ts'
import { isSameRoot } from './root-guard.ts'
import { isAtOrBelow, pathOf } from './tree-path.ts'
import type { Uploader } from './upload.ts'
import type { UploadJob } from './upload-job.ts'
import type { UploadResult } from './upload-result.ts'

export interface UploadQueueParts {
  disk: Disk
  synced: Synced
  clock: Clock
  tell: Tell
  host: ImageHost
  uploader: Uploader
  concurrency: number
  order: 'newest' | 'oldest'
  /** How long the host's word that the quota is used up is believed without asking again. */
  probeEveryMs: number
  quotaDay: (wall: number) => string
  credentialLifetimeMs: number
}

/** Sends what is pending, several at a time, until all is done or the host will not have more. */
export class UploadQueue {
  readonly #parts: UploadQueueParts
  readonly #mirrors: Map<number, ScannedMirror>
  #stopped: HostFailure | null = null
  /** Uploads in a row whose outcome is not known. */
  #inDoubt = 0

  constructor(parts: UploadQueueParts, mirrors: readonly ScannedMirror[]) {
    this.#parts = parts
    this.#mirrors = new Map(mirrors.map(mirror => [mirror.row.id, mirror]))
  }

  /** Answers what ended it early, or null. */
  async run(interruption: Interruption): Promise<HostFailure | null> {
    const { synced, host, tell, order, concurrency } = this.#parts
    const ids = [...this.#mirrors.keys()]
    if (!synced.files.anyPending(ids)) return null
    const quota = this.#quota()
    if (quota === 'exhausted') return this.#stop(quotaIsUsedUp)
    tell({ event: 'uploads_started', ...synced.files.pendingTotal(ids) })
    const files = synced.files.pending(order, ids)
    // After an exhausted quota one picture goes ahead to ask; the others follow where it is taken.
    if (quota === 'probe') {
      host.unblock('upload')
      await this.#work(files, interruption, 1)
    }
    await Promise.all(
      Array.from({ length: concurrency }, () => this.#work(files, interruption, Number.POSITIVE_INFINITY)),
    )
    return this.#stopped
  }

  async #work(
    files: Generator<FileRow>,
    { stop, cut, pauseUploads }: Interruption,
    most: number,
  ): Promise<void> {
    for (let done = 0; done < most && !this.#stopped; done++) {
      if (stop.aborted || pauseUploads?.aborted) return
      const next = files.next()
      if (next.done) return
      const job = this.#job(next.value)
      if (job) await this.#settle(job, await this.#parts.uploader.upload(job, cut))
    }
  }

  /** Null where the folder is in doubt. */
  #job(file: FileRow): UploadJob | null {
    const { synced, disk } = this.#parts
    const folder = synced.folders.byId(file.folder)!
    const { policy, unknown, identity, mounts } = this.#mirrors.get(folder.mirror)!
    if (unknown.some(path => isAtOrBelow(folder.path, path))) return null
    return {
      file,
      root: policy.folder,
      path: pathOf(folder.path, file.name),
      mirror: folder.mirror,
      albumPath: albumPathOf(policy.album, folder.path),
      deletions: policy.deletions,
      isSameGround: () =>
        isSameRoot(disk, policy.folder, identity) &&
        mounts.every(at => !isAtOrBelow(folder.path, at) || isMount(disk, policy.folder, at)),
    }
  }

  async #settle(job: UploadJob, result: UploadResult): Promise<void> {
    const { synced, tell } = this.#parts
    const { root: mirror, path, file } = job
    switch (result.kind) {
      case 'uploaded':
        this.#inDoubt = 0
        return tell({ event: 'picture_uploaded', mirror, path, size: result.size, cdn_url: result.cdnUrl })
      case 'unchanged':
        return tell({ event: 'picture_unchanged', mirror, path, size: result.size })
      case 'linked':
        return tell({ event: 'picture_linked', mirror, path })
      case 'waits':
        return tell({ event: 'picture_waits', mirror, path, message: result.message })
      case 'uncertain':
        await synced.commit(() => this.#recordUncertain(file, result))
        tell({ event: 'picture_uncertain', mirror, path, message: result.failure.message })
        // More than one in a row is not chance: what goes on would only be more doubt.
        if (!result.failure.repeated && ++this.#inDoubt > 1) this.#stop(result.failure)
        return
      case 'failed':
        await synced.commit(() => this.#recordFailure(file, result))
        return tell({ event: 'picture_failed', mirror, path, code: result.code, message: result.message })
      case 'stop':
        this.#stop(result.failure)
    }
  }

  #recordUncertain(file: FileRow, { hash, failure }: Extract<UploadResult, { kind: 'uncertain' }>): void {
    const { synced, clock, credentialLifetimeMs } = this.#parts
    const since = clock.wall()
    synced.files.put({ ...file, state: 'uncertain', since, hash })
    synced.failures.put(uncertainty(file, failure.message, since + mayArriveFor(credentialLifetimeMs)))
  }

  #recordFailure(
    file: FileRow,
    { code, message, retryAt, hash }: Extract<UploadResult, { kind: 'failed' }>,
  ): void {
    const { files, failures } = this.#parts.synced
    const { folder, name } = file
    // With its hash known, it does not keep every image of its size waiting for it.
    files.put({ ...file, state: 'failed', hash })
    failures.put({ folder, name, source: 'upload', code, message, next_attempt_at: retryAt })
  }

  #quota(): 'open' | 'probe' | 'exhausted' {
    const { synced, clock, quotaDay, probeEveryMs } = this.#parts
    const now = clock.wall()
    const { exhausted } = synced.account.quota(quotaDay(now))
    if (exhausted === null) return 'open'
    return now - exhausted < probeEveryMs ? 'exhausted' : 'probe'
  }

  #stop(failure: HostFailure): HostFailure {
    if (this.#stopped || failure.remedy === 'cancelled') return failure
    this.#stopped = failure
    this.#parts.tell({ event: 'uploads_stopped', code: failure.code, message: failure.message })
    return failure
  }
}

/** What a person reads of an upload whose outcome is not known. `until`: when it can be found out at the latest. */
export function uncertainty({ folder, name }: Pick<FileRow, 'folder' | 'name'>, why: string, until: number) {
  const message = `it may be on the host or not; it is looked for there, and not sent again before that is known: ${why}`
  const next_attempt_at = Math.round(until)
  return { folder, name, source: 'uncertain' as const, code: 'UNCERTAIN', message, next_attempt_at }
}

const quotaIsUsedUp: HostFailure = {
  remedy: 'quota',
  endpoint: 'upload',
  code: 'DAILY_LIMIT_REACHED',
  message: "the host said that today's uploads are used up",
  repeated: true,
}
