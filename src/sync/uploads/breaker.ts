import type { Endpoint } from '../../protocol/endpoints.ts'
import { refusedByAll, retried } from '../../records/pictures.ts'
import { FORMAT_REFUSED, HOST_REFUSES, isClosed } from '../../remote/failures.ts'
import { type HostFailure, hostWith, type ImageHost, type Outcome } from '../../remote/host.ts'
import type { Records, Synced, Tx } from '../../synced/synced.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import { type FileKey, type FileRow, textOf } from '../../synced/tables/files.ts'
import type { Refused } from '../../synced/tables/meta.ts'
import { because, reasonIn } from '../../words/reasons.ts'
import type { QuotaPort } from '../context.ts'
import { triedAgainAt } from '../quota/index.ts'
import { type FormatPort, RefusedFormats } from './refused-formats.ts'
import type { UploadResult } from './upload-job.ts'

/** When so many different pictures in a row are refused in the same way, the endpoint refuses, and not the pictures fail. */
const ALIKE = 3
/** How many refused pictures are remembered. */
const MOST = 200

/** The endpoint that refuses all pictures, while it does and pictures wait. */
export function refusingEndpoint({ account, files }: Records): BlockRow | undefined {
  return account.blocks().find(({ code }) => code === HOST_REFUSES && files.arePending(0))
}

/** Forgets that an endpoint refuses all pictures, or those of a format, so that pictures are sent again. */
export function forgetRefusingEndpoint({ account }: Tx): void {
  const others = account.blocks().filter(({ code }) => code !== HOST_REFUSES && code !== FORMAT_REFUSED)
  account.clearBlocks(others.map(({ endpoint }) => endpoint))
}

/** Finds out whether the host refuses a picture, or all of them. A refused picture fails, waits for its next try, and goes
 * last then. But when three different pictures in a row are refused in the same way, their endpoint is blocked: none of them
 * has failed, one picture at a time asks again, after ever longer pauses, and the first that is taken ends the block. What is
 * refused again after that has failed by itself.
 *
 * A 5xx of step 1 is an outage as far as the gate can tell, so it ends the uploads at once. An outage that the host explains
 * in a code of its own is a block at once: the gate has asked often enough. */
export class Breaker {
  readonly #synced: Synced
  readonly #block: BlockRow | undefined
  /** Pictures that were refused and not taken since, by folder and name. They go last, in this order. */
  readonly #refused: Map<string, Refused>
  readonly formats: RefusedFormats
  /** Pictures that were refused in the same way since one was taken, none of them before. */
  readonly #alike = new Map<string, FileKey>()
  #way = ''
  readonly #notFailed: FileKey[] = []
  /** The endpoint that refuses all pictures, as far as is known. */
  #shut: string | null
  /** Whether this run has uploaded a picture. */
  #hasServed = false
  /** Whether the blocked endpoint has answered in this run. */
  #hasAnswered = false

  constructor(context: FormatPort) {
    const { synced } = context
    this.#synced = synced
    this.#block = refusingEndpoint(synced)
    this.#shut = this.#block?.endpoint ?? null
    this.#refused = new Map(synced.meta.get('refused')?.map(key => [textOf(key), key]))
    this.formats = new RefusedFormats(context, this.#refused, ALIKE)
  }

  /** The failure that ends the uploads while an endpoint is blocked; null where none is. */
  get blocked(): HostFailure | null {
    if (!this.#block || this.#shut === null) return null
    const { code, message, endpoint } = this.#block as BlockRow & Pick<HostFailure, 'endpoint'>
    return { remedy: 'refused_by_node', endpoint, code, message, repeated: true }
  }

  /** Whether nobody has asked the blocked endpoint yet. A picture whose album is known asks for no album. */
  get isUnasked(): boolean {
    return this.blocked !== null && !this.#hasAnswered
  }

  /** The same host, which tells of its albums' endpoints when they answer. */
  watching(host: ImageHost): ImageHost {
    const watched = async <T>(endpoint: Endpoint, asked: Promise<Outcome<T>>) => {
      const outcome = await asked
      if (outcome.ok) await this.#works(endpoint)
      else if (!outcome.failure.unsent) this.#hasAnswered ||= endpoint === this.#block?.endpoint
      return outcome
    }
    return hostWith(host, {
      list: (...asked) => watched('list', host.list(...asked)),
      createAlbum: (...asked) => watched('create_album', host.createAlbum(...asked)),
    })
  }

  /** Whether it is too early to ask a blocked endpoint again. */
  mustRest({ clock, allowance }: QuotaPort): boolean {
    const now = clock.wall()
    // After the clock was set back, `said_at` may lie in the future. Then the endpoint is asked now.
    return (
      this.#block !== undefined && this.#block.said_at <= now && now < triedAgainAt(this.#block, allowance)
    )
  }

  /** The same files, with those at the end that were refused. */
  *last(files: Generator<FileRow>): Generator<FileRow> {
    const later = new Map<string, FileRow>()
    for (const file of files) {
      const key = this.#refused.size > 0 ? textOf(file) : ''
      if (this.#refused.has(key)) later.set(key, file)
      else yield file
    }
    for (const key of [...this.#refused.keys()]) {
      const file = later.get(key)
      if (file) yield file
    }
  }

  /** The same result, or what the refusal in it means for this picture and for others. */
  async weigh({ folder, name }: FileRow, result: UploadResult): Promise<UploadResult> {
    const key = { folder, name }
    switch (result.kind) {
      case 'uploaded':
        await this.#served(key, result.mime)
        return result
      case 'stop': {
        const { failure, ofPicture } = result
        if (ofPicture) {
          const isOfPicture = this.#isOfPicture(key, failure, ofPicture.code)
          await this.#synced.commit(tx => this.#goLast(tx, key))
          if (isOfPicture) return ofPicture
        }
        this.#hasAnswered ||= !failure.unsent && failure.endpoint === this.#block?.endpoint
        // The gate knows of the outage behind the block, and has not asked.
        const { blocked } = this
        if (failure.unsent && failure.endpoint === blocked?.endpoint)
          return { kind: 'stop', failure: blocked }
        if (!isClosed(failure)) return result
        this.#shut = failure.endpoint
        return refusing(failure)
      }
      case 'failed':
        if (result.refusal) return this.#weighRefusal(key, result, result.refusal)
        if (this.#refused.delete(textOf(key))) await this.#synced.commit(tx => this.#record(tx))
        return result
      default:
        return result
    }
  }

  /** Counts a refusal, or an outcome that is not known. Whether it was one too many. */
  count({ folder, name }: FileKey, { endpoint, code, remedy }: HostFailure): boolean {
    const way = `${endpoint} ${code} ${remedy}`
    if (way !== this.#way) this.#alike.clear()
    this.#way = way
    this.#alike.set(textOf({ folder, name }), { folder, name })
    return this.#alike.size >= ALIKE
  }

  async #weighRefusal(
    key: FileKey,
    failed: UploadResult & { code: string; mime?: string },
    refusal: HostFailure,
  ): Promise<UploadResult> {
    // A picture that was refused before says nothing about others.
    const isKnown = this.#refused.has(textOf(key)) || this.#hasFailed(key, failed.code)
    this.#hasAnswered ||= refusal.endpoint === this.#block?.endpoint
    const message = await this.formats.refused(key, failed.mime, refusal)
    if (message !== null) {
      this.#alike.clear()
      await this.#synced.commit(tx => this.#goLast(tx, key))
      return { kind: 'waits', message }
    }
    if (!isKnown && refusal.remedy !== 'change_picture' && this.count(key, refusal))
      this.#shut = refusal.endpoint
    const isOfAll = this.#shut === refusal.endpoint
    if (isOfAll) this.#notFailed.push(...this.#alike.values(), key)
    await this.#synced.commit(tx => this.#goLast(tx, key))
    return isOfAll ? refusing(refusal) : failed
  }

  /** At the end of a run: the pictures that were refused with all others have not failed. */
  async end(): Promise<void> {
    if (this.#notFailed.length > 0) await this.#synced.commit(tx => refusedByAll(tx, this.#notFailed))
  }

  #hasFailed(key: FileKey, code: string): boolean {
    return this.#synced.failures.ofUpload(key)?.code === code
  }

  /** Whether a 5xx of step 1 is of this picture alone: others were taken, or it has failed by itself before. */
  #isOfPicture(key: FileKey, { othersServed }: HostFailure, code: string): boolean {
    if (othersServed) return true
    return this.#refused.has(textOf(key)) && (this.#hasServed || this.#hasFailed(key, code))
  }

  async #served(key: FileKey, mime: string | undefined): Promise<void> {
    this.#hasServed = true
    const wasRefused = this.#refused.delete(textOf(key))
    const isNews = await this.formats.served(mime)
    for (const endpoint of ['upload', 'send'] as const) await this.#works(endpoint)
    if (wasRefused || isNews)
      await this.#synced.commit(tx => {
        // The reason may be gone for which the others were refused too.
        if (wasRefused) retried(tx, [...this.#refused.values()])
        this.#record(tx)
      })
  }

  /** The endpoint has done what it was asked for. */
  async #works(endpoint: Endpoint): Promise<void> {
    if (this.#way.startsWith(`${endpoint} `)) this.#alike.clear()
    if (this.#shut !== endpoint) return
    this.#shut = null
    await this.#synced.commit(forgetRefusingEndpoint)
  }

  #goLast(tx: Tx, file: FileKey): void {
    const before = this.#refused.get(textOf(file))
    this.#refused.delete(textOf(file))
    this.#refused.set(textOf(file), { ...before, ...file })
    this.#record(tx)
  }

  #record(tx: Tx): void {
    tx.meta.set('refused', [...this.#refused.values()].slice(-MOST))
  }
}

function refusing(failure: HostFailure): UploadResult {
  const why = reasonIn(failure.message, 'said') ?? failure.message
  const message = because('host_refuses', { why })
  return { kind: 'stop', failure: { ...failure, code: HOST_REFUSES, remedy: 'refused_by_node', message } }
}
