import { failed, uncertain } from '../../records/pictures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { AlbumTree } from '../albums/index.ts'
import { mayArriveFor } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import type { PassEvent } from '../pass-events.ts'
import { endingForOthers, type Interruption, type Pass } from '../pass-request.ts'
import { QuotaLedger, rateOf } from '../quota/index.ts'
import { type ScannedMirror, scanMirrors } from '../scan/index.ts'
import { Breaker } from './breaker.ts'
import { Lanes } from './lanes.ts'
import { findOut, inDoubt } from './recovery.ts'
import { Uploader } from './upload.ts'
import {
  isAsScanned,
  jobOf,
  type Only,
  recordStop,
  recordWait,
  type UploadJob,
  type UploadResult,
  type UploadRun,
  type Waits,
} from './upload-job.ts'

type QueueRun = UploadRun & { uploader: Uploader; breaker: Breaker }

/** Scans beside the uploads. Returns the mirrors as this scan saw them. */
type Scan = (scopeOf: Pass['scopeOf']) => Promise<readonly ScannedMirror[]>

/** For how many milliseconds a pass compares pictures while uploads wait. Other work may be due after that. */
const COMPARE_MS = 600_000

/** Uploads pending files, several at a time, until all are sent or the host takes no more. */
export class UploadQueue {
  readonly #run: QueueRun
  #mirrors: ReadonlyMap<number, ScannedMirror>
  #stopped: HostFailure | null = null
  #uploaded = 0

  constructor(run: QueueRun, mirrors: readonly ScannedMirror[]) {
    this.#run = run
    this.#mirrors = byRow(mirrors)
  }

  /** The mirrors as the last scan saw them. */
  get scanned(): readonly ScannedMirror[] {
    return [...this.#mirrors.values()]
  }

  get #ids(): number[] {
    return [...this.#mirrors.keys()]
  }

  /** Sends the files. Returns the failure that ended the uploads early, or null. */
  async run(interruption: Interruption, scan?: Scan): Promise<HostFailure | null> {
    const { synced, clock, quota, running, only, lanes, underWay } = this.#run
    const ids = this.#ids
    if (only === 'compare') {
      const until = clock.monotonic() + COMPARE_MS
      const mayGoOn = () => clock.monotonic() < until
      await this.#together(() => synced.files.perhapsOfUnused(ids, running()), interruption, mayGoOn)
      await this.#together(() => synced.files.notCompared(ids), interruption, mayGoOn)
      return null
    }
    if (!synced.files.anyPending(ids)) return null
    const few = this.#countFew()
    if (few?.pictures === 0 && few.compare === 0) return null
    const state = only ? 'open' : quota.state()
    if (state === 'exhausted') return this.#stop(quotaIsUsedUp)
    const { blocked } = this.#run.breaker
    if (blocked && !only && this.#run.breaker.mustRest) return this.#stop(blocked)
    if (this.#isSparing() && this.#newToday(ids, 1).next().done) return this.#stop(reserveIsKept)
    const { news } = interruption
    // After a scan beside the uploads, an event tells anew all that is still to be sent.
    if (news && scan)
      news.scan = scopeOf => {
        const began = Math.floor(clock.wall())
        const take = (mirrors: readonly ScannedMirror[]) => {
          this.#mirrors = byRow(mirrors)
          if (!synced.files.pendingSince(began, this.#ids, 1).next().done) this.#emitStarted(this.#countFew())
        }
        return lanes.scanBeside(scan(scopeOf).then(take))
      }
    this.#emitStarted(few)
    const from = clock.monotonic()
    try {
      // What a scan finds that began just as the last upload ended is sent too, because no later pass may be near.
      do await this.#upload(state === 'probe', interruption)
      while (underWay.scan && !this.#stopped && !isEnded(interruption))
    } finally {
      if (news) news.scan = null
      await underWay.scan
      await this.#run.breaker.end()
    }
    const rate = rateOf(this.#uploaded, clock.monotonic() - from, synced.meta.get('upload_rate'))
    if (rate !== null) await synced.commit(tx => tx.meta.set('upload_rate', rate))
    return this.#stopped
  }

  async #upload(isProbe: boolean, interruption: Interruption): Promise<void> {
    const { synced, quota, order, only } = this.#run
    const inOrder = (by = order) => synced.files.pending(by, this.#ids)
    const pending = () => this.#run.breaker.last(inOrder())
    const asks = quota.granted === 0 && this.#letAsk(isProbe)
    if (asks) quota.probe()
    const isBlocked = () => !only && this.#run.breaker.blocked !== null
    if (asks || isBlocked()) {
      // One picture at a time asks whether there is quota again, or whether the host takes pictures. For the latter it comes from
      // the other end, because refused pictures often lie together.
      const otherEnd = order === 'newest' ? 'oldest' : 'newest'
      const first = () => (isBlocked() ? this.#run.breaker.asking(() => inOrder(otherEnd)) : pending())
      const isUnasked = () => (isBlocked() ? this.#run.breaker.isUnasked : quota.granted === 0)
      await this.#together(first, interruption, isUnasked, 1)
      if (isBlocked()) return void this.#stop(this.#run.breaker.blocked!)
      if (quota.granted === 0) return
    }
    for (;;) {
      await this.#together(pending, interruption, () => !this.#isSparing())
      if (!this.#isSparing()) return
      // Only the reserve is left, and no older picture is under way. From here on only pictures that were found today are sent.
      const { began } = quota.read()
      const isToday = () => quota.read().began === began
      await this.#together(() => this.#newToday(this.#ids), interruption, isToday)
      if (isToday()) break
      // A new day has begun: it has its own quota, and other pictures were found on it.
    }
    if (!isEnded(interruption) && synced.files.anyPending(this.#ids)) this.#stop(reserveIsKept)
  }

  /** Lets uploads be sent again that a used-up quota has blocked. Returns whether a single upload must go first, to find out
   * whether the host takes uploads again. `isProbe`: the caller knows already that one must. */
  #letAsk(isProbe: boolean): boolean {
    const { synced, host, only } = this.#run
    if (only) return false
    const shut = host.blocks().find(({ endpoint }) => endpoint === 'upload')
    if (shut?.remedy === 'quota') host.unblock('upload')
    return isProbe || (!shut && synced.account.blocks().some(({ endpoint }) => endpoint === 'upload'))
  }

  /** Whether only the reserve is left, which is kept for the day's new pictures. */
  #isSparing(): boolean {
    const { quota, only } = this.#run
    return only === null && quota.onlyReserveLeft()
  }

  #newToday(ids: number[], most?: number): Generator<FileRow> {
    const { synced, quota } = this.#run
    return this.#run.breaker.last(synced.files.pendingSince(quota.read().began, ids, most))
  }

  /** Works through files, several at a time. `files`: returns all anew. `mayGoOn`: whether another one may be taken. */
  #together(
    files: () => Generator<FileRow>,
    interruption: Interruption,
    mayGoOn: () => boolean,
    most?: number,
  ): Promise<void> {
    const { synced, underWay, lanes } = this.#run
    const isOver = () => this.#stopped !== null || isEnded(interruption)
    const takeNext = async (from: Generator<FileRow>) => {
      if (isOver() || !mayGoOn()) return false
      const next = from.next()
      if (next.done) return false
      await lanes.take(
        next.value.size,
        () => !isOver() && mayGoOn(),
        async lane => {
          // While this one waited for a large one, other uploads may have ended the run, or a scan may have changed its record.
          const file = isOver() ? undefined : synced.files.at(next.value)
          if (file?.state !== next.value.state || !underWay.mayBegin(file)) return
          const job = jobOf(this.#run, this.#mirrors, file)
          const isStill = () => !underWay.isLeftOut(file) && isAsScanned(this.#run, this.#mirrors, file)
          if (job)
            await underWay.during(file, () =>
              this.#send({ ...job, isAsScanned: isStill, lane }, interruption.cut),
            )
        },
      )
      return true
    }
    return lanes.run(files, takeNext, most)
  }

  async #send(job: UploadJob, cut: AbortSignal): Promise<void> {
    const came = await this.#run.uploader.upload(job, cut)
    return this.#settle(job, await this.#run.breaker.weigh(job.file, came))
  }

  /** Emits what is to be sent. `few`: the result of `countFew`. */
  #emitStarted(few: Pending | null): void {
    const { synced, quota, only, emit } = this.#run
    const pending = few ?? synced.files.toSend(this.#ids)
    const looks_first = this.#looksFirst()
    emit({ event: 'uploads_started', ...onlyCompared(pending, only), quota_left: quota.left(), looks_first })
  }

  /** Counts the files to send where only some are sent. Null: all pending files are. */
  #countFew(): Pending | null {
    const { synced, order, named } = this.#run
    const mirrors = [...this.#mirrors.values()]
    if (named === undefined && mirrors.every(({ unknown }) => unknown.length === 0)) return null
    const sum: Pending = { pictures: 0, bytes: 0, compare: 0 }
    for (const file of synced.files.pending(order, this.#ids))
      if (jobOf(this.#run, this.#mirrors, file) === null) continue
      else if (synced.files.isToCompare(file)) sum.compare++
      else {
        sum.pictures++
        sum.bytes += file.size
      }
    return sum
  }

  async #settle(job: UploadJob, result: UploadResult): Promise<void> {
    const { synced, emit } = this.#run
    const { root: mirror, path, file } = job
    switch (result.kind) {
      case 'uploaded':
        this.#uploaded++
        return emit({ event: 'picture_uploaded', mirror, path, size: result.size, cdn_url: result.cdnUrl })
      case 'unchanged': {
        const { kind: _kind, ...bytes } = result
        return emit({ event: 'picture_unchanged', mirror, path, ...bytes })
      }
      case 'compared':
        return
      case 'linked':
        return emit({ event: 'picture_linked', mirror, path })
      case 'waits':
        await recordWait(this.#run, file, result)
        return emit({ event: 'picture_waits', mirror, path, ...waiting(result) })
      case 'uncertain':
        await synced.commit(tx => uncertain(tx, file, this.#doubt(result), this.#run.clock.wall()))
        emit({ event: 'picture_uncertain', mirror, path, message: result.failure.message })
        // The outcome of further uploads would probably not be known either.
        if (!result.failure.repeated && this.#run.breaker.count(file, result.failure))
          this.#stop(result.failure)
        return
      case 'failed':
        await synced.commit(tx =>
          failed(tx, file, { ...result, isRefused: result.refusal !== undefined }, this.#run.clock.wall()),
        )
        emit({ event: 'picture_failed', mirror, path, code: result.code, message: result.message })
        return
      case 'stop': {
        // Recorded even where an outage stopped the run before, so that the next pass does not ask about the quota again.
        const isNews = this.#stopped?.remedy !== result.failure.remedy
        this.#stop(result.failure)
        return isNews ? recordStop(this.#run, result.failure) : undefined
      }
    }
  }

  /** Whether each album is listed before uploads. Where the host lists nothing, no album is ever counted. */
  #looksFirst(): boolean {
    const { contents, account } = this.#run.synced
    return !contents.anyCounted() && !account.blocks().some(({ endpoint }) => endpoint === 'list')
  }

  #doubt({ hash, failure }: Extract<UploadResult, { kind: 'uncertain' }>) {
    const { clock, credentialLifetimeMs, synced } = this.#run
    const since = clock.wall()
    // Recovery counts from when the bytes were sent, even when the file was moved away and back since.
    const sent = synced.journal
      .openUploads()
      .flatMap(open => (open.file_hash.equals(hash) ? [open.sent_at] : []))
    const age = sent.length > 0 ? clock.monotonic() - Math.max(...sent) : 0
    return { hash, since, until: since - age + mayArriveFor(credentialLifetimeMs), why: failure.message }
  }

  #stop(failure: HostFailure): HostFailure {
    if (this.#stopped || failure.remedy === 'cancelled') return failure
    this.#stopped = failure
    this.#run.emit({ event: 'uploads_stopped', code: failure.code, message: failure.message })
    return failure
  }
}

type Pending = Omit<Extract<PassEvent, { event: 'uploads_started' }>, 'event' | 'quota_left' | 'looks_first'>

/** The numbers of a run that sends nothing: it compares all pictures with what the host has. */
function onlyCompared(pending: Pending, only: Only | null): Pending {
  return only === null ? pending : { pictures: 0, bytes: 0, compare: pending.pictures + pending.compare }
}

function waiting({ message, retryInMs }: Waits) {
  return { message, ...(retryInMs !== undefined && { retry_in_ms: Math.ceil(retryInMs) }) }
}

function byRow(mirrors: readonly ScannedMirror[]): ReadonlyMap<number, ScannedMirror> {
  return new Map(mirrors.map(mirror => [mirror.row.id, mirror]))
}

function isEnded({ stop, pauseUploads }: Interruption): boolean {
  return stop.aborted || pauseUploads?.aborted === true
}

const noQuota = (code: string, message: Reason): HostFailure => ({
  remedy: 'quota',
  endpoint: 'upload',
  code,
  message,
  repeated: true,
})
const reserveIsKept = noQuota('QUOTA_RESERVE', because('reserve_for_new'))
export const quotaIsUsedUp = noQuota('DAILY_LIMIT_REACHED', because('quota_refused'))

/** How many rounds of uploads a pass makes at most. After a lost answer it looks for the upload, and begins another round. */
const ROUNDS = 3

/** Uploads the pending files. Returns the mirrors as the last scan saw them, because scans go on beside the uploads. While
 * uploads must wait, pictures are still read that may have the bytes of their image, or of an image that no file uses. That asks
 * the host for nothing, and shows which pictures are there already and which images are needed. */
export async function uploadPending(
  context: EngineContext,
  pass: Pass,
  before: readonly ScannedMirror[],
): Promise<readonly ScannedMirror[]> {
  const { task, stopped, interruption } = pass
  if (task === 'look') return before
  // What ended uploads in this pass would end them again. Outside of `uploads.hours` none begins.
  const mayBegin = stopped.length === 0 && !interruption.pauseUploads?.aborted
  const { ended, scanned } = mayBegin
    ? await sendPending(context, pass, before)
    : { ended: null, scanned: before }
  if (ended) stopped.push(ended)
  const isAllSent = ended === null && mayBegin && !pass.named
  if (isAllSent || task === 'adopt') return scanned
  const { stop, cut } = endingForOthers(interruption)
  await queueOf(context, pass, scanned, 'compare').run({ stop, cut })
  return scanned
}

/** Sends the pending files. An upload whose answer is lost is looked for at once. When that ends the doubt, sending goes on. */
async function sendPending(
  context: EngineContext,
  pass: Pass,
  before: readonly ScannedMirror[],
): Promise<{ ended: HostFailure | null; scanned: readonly ScannedMirror[] }> {
  const { clock, contents } = context
  const { journal } = context.synced
  const isAdopting = pass.task === 'adopt'
  // A person asks what the host holds now, so albums are walked again.
  if (isAdopting) contents.forgetAll()
  // A command that names its pictures sends no others. So nothing is scanned beside its uploads.
  const scan = pass.named
    ? undefined
    : (scopeOf: Pass['scopeOf']) => scanMirrors(context, { ...pass, scopeOf })
  let scanned = before
  for (let round = 1; ; round++) {
    const began = clock.monotonic()
    const queue = queueOf(context, pass, scanned, isAdopting ? 'adopt' : null)
    const ended = await queue.run(pass.interruption, scan)
    scanned = queue.scanned
    const open = inDoubt(context, pass).length
    if (open === 0 || pass.interruption.stop.aborted) return { ended, scanned }
    await findOut(context, pass)
    const left = inDoubt(context, pass).length
    // Fewer uploads are in doubt, or the next upload into an album whose creation got no answer looks for it.
    const clearer = left < open || (journal.newestCreation() ?? Number.NEGATIVE_INFINITY) >= began
    const mayGoOn = ended === null || (ended.remedy === 'find_out' && left === 0)
    if (round === ROUNDS || !clearer || !mayGoOn) return { ended, scanned }
  }
}

function queueOf(
  context: EngineContext,
  { named, underWay }: Pass,
  scanned: readonly ScannedMirror[],
  only: Only | null,
): UploadQueue {
  const quota = new QuotaLedger(context)
  const breaker = new Breaker(context)
  const watched = { ...context, host: breaker.watching(context.host) }
  const albums = new AlbumTree(watched)
  const lanes = new Lanes(context.concurrency, underWay)
  const run = { ...watched, only, named, underWay, quota, albums, lanes, breaker }
  return new UploadQueue({ ...run, uploader: new Uploader(run) }, scanned)
}
