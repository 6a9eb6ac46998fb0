import type { Endpoint } from '../../protocol/endpoints.ts'
import { FORMATS, formatOfName, imageNameOf } from '../../protocol/formats.ts'
import { refusedByAll, retried } from '../../records/pictures.ts'
import { waits } from '../../records/waits.ts'
import { FORMAT_REFUSED, HOST_REFUSES, isClosed, remedyOfCode } from '../../remote/failures.ts'
import { type HostFailure, hostWith, type ImageHost, type Outcome, type Remedy } from '../../remote/host.ts'
import type { Records, Tx } from '../../synced/synced.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import { type FileKey, type FileRow, textOf } from '../../synced/tables/files.ts'
import type { Refused } from '../../synced/tables/meta.ts'
import { because, type Reason, reasonIn } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'
import { triedAgainAt } from '../quota/index.ts'
import type { UploadResult } from './upload-job.ts'

/** After so many different pictures in a row were refused alike, the host refuses all, or all of their type: none has failed. */
const ALIKE = 3
/** How many refused pictures are remembered. */
const MOST = 200

/** Remedies of refusals that may concern all pictures of a type. A wrong size or wrong dimensions concern one picture. */
const OF_TYPE: ReadonlySet<Remedy> = new Set<Remedy>(['change_request', 'refused_by_node', 'not_permitted'])
/** The status that says that the type is refused (RFC 9110), and not the picture. */
const UNSUPPORTED_TYPE = 415

/** The blocks of endpoints that refuse all pictures, and of refused types. None while no picture waits. */
export function refusals({ account, files }: Records): BlockRow[] {
  return files.arePending(0) ? account.blocks().filter(isRefusal) : []
}

/** Forgets what the host has refused, so that all pictures are sent again. */
export function forgetRefusals({ account }: Tx): void {
  for (const row of account.blocks()) if (isRefusal(row)) account.unblock(row.endpoint)
}

/** After an audit: makes the host be asked again about each refused format. */
export function askFormatsAgain({ account }: Tx): void {
  for (const row of account.blocks())
    if (row.code === FORMAT_REFUSED) account.block({ ...row, said_at: row.since })
}

function isRefusal({ code }: BlockRow): boolean {
  return remedyOfCode(code) === 'refused_by_node'
}

/** Finds out whether the host refuses a single picture, all of its type, or all. A refused picture fails, and comes last at its
 * next try. When three different pictures in a row are refused in the same way, their endpoint is blocked, and none of them has
 * failed. Then one picture at a time asks again, after ever longer pauses, and the first one that is taken ends the block. A
 * picture that is refused after that has failed by itself. An outage that the host explains in a code of its own blocks at once,
 * because the gate has asked often enough. When a picture of another type was taken since the first of three of one type was
 * refused, only that type is blocked: its pictures wait, except one that asks now and then. */
export class Breaker {
  readonly #context: BreakerPort
  readonly #block: BlockRow | undefined
  /** Pictures that were refused and not taken since, by folder and name. They come last, in this order. */
  readonly #refused: Map<string, Refused>
  /** Pictures that were refused in the same way since the last one was taken, also in earlier runs, and never before. */
  readonly #alike: Map<string, FileKey>
  #way: string
  readonly #notFailed: FileKey[] = []
  /** The endpoint that refuses all pictures, as far as is known. */
  #shut: string | null
  /** Whether this run has uploaded a picture. */
  #hasServed = false
  /** Whether the blocked endpoint has answered in this run. */
  #hasAnswered = false
  /** The picture that asks in this run for each blocked type, by the type's block. Null once it was refused. */
  readonly #asking = new Map<string, string | null>()

  constructor(context: BreakerPort) {
    this.#context = context
    this.#block = refusals(context.synced).find(({ code }) => code === HOST_REFUSES)
    this.#shut = this.#block?.endpoint ?? null
    this.#refused = new Map(context.synced.meta.get('refused')?.map(key => [textOf(key), key]))
    const alike = alikeAmong(this.#refused)
    this.#alike = new Map(alike)
    this.#way = alike[0]?.[1].way ?? ''
  }

  /** The failure that ends the uploads while an endpoint is blocked. Null: none is. */
  get blocked(): HostFailure | null {
    if (!this.#block || this.#shut === null) return null
    const { code, message, endpoint } = this.#block as BlockRow & Pick<HostFailure, 'endpoint'>
    return { remedy: 'refused_by_node', endpoint, code, message, repeated: true }
  }

  /** Whether nobody has asked the blocked endpoint yet. A picture whose album is known does not ask those of albums. */
  get isUnasked(): boolean {
    return this.blocked !== null && !this.#hasAnswered
  }

  /** Whether it is too early to ask a blocked endpoint again. */
  get mustRest(): boolean {
    return this.#block !== undefined && !this.#isDue(this.#block)
  }

  /** Why a picture waits that an earlier run has read. Null: it is to be read. */
  whyUnread(file: FileKey): Reason | null {
    const own = this.#context.synced.waits.of(file)?.why
    return this.#unlessAsking(file, own === undefined ? undefined : this.#blockOf(row => row.message === own))
  }

  /** Why a picture of this type waits; null: it may be sent. */
  whyOfType(file: FileKey, mime: string): Reason | null {
    return this.#unlessAsking(
      file,
      this.#blockOf(({ endpoint }) => endpoint === ofType(mime)),
    )
  }

  /** The host, watched: the breaker learns when the endpoints of albums answer. */
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

  /** The files in their order, with those at the end that were refused. */
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

  /** The files in the order in which they ask a blocked endpoint: not of the type that was refused last first. One that is
   * taken shows that only this type is refused. `files`: returns all anew. */
  *asking(files: () => Generator<FileRow>): Generator<FileRow> {
    const last = [...this.#refused.values()].at(-1)
    const refused = last && this.#typeOf(last)
    for (const isOfIt of [false, true])
      for (const file of this.last(files())) if ((this.#typeOf(file) === refused) === isOfIt) yield file
  }

  /** The type of a picture. Its name tells it while nobody has refused the picture. */
  #typeOf(file: FileKey): string | null {
    const format = formatOfName(imageNameOf(file.name))
    return this.#refused.get(textOf(file))?.mime ?? (format && FORMATS[format].mime)
  }

  /** What the result of an upload means. A refusal is weighed for this picture and for others. Every other result stays. */
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
          await this.#goLast(key)
          if (isOfPicture) return ofPicture
        }
        this.#hasAnswered ||= !failure.unsent && failure.endpoint === this.#block?.endpoint
        // An outage kept the gate from sending. The block that is known already says why.
        const { blocked } = this
        if (failure.unsent && failure.endpoint === blocked?.endpoint)
          return { kind: 'stop', failure: blocked }
        if (!isClosed(failure)) return result
        this.#shut = failure.endpoint
        return refusing(failure)
      }
      case 'failed':
        if (result.refusal) return this.#weighRefusal(key, result, result.refusal)
        if (this.#refused.delete(textOf(key))) await this.#commit(() => {})
        return result
      default:
        return result
    }
  }

  /** Counts a refusal, or an outcome that is not known. Returns whether it was one too many. */
  count({ folder, name }: FileKey, failure: HostFailure): boolean {
    const way = wayOf(failure)
    if (way !== this.#way) this.#alike.clear()
    this.#way = way
    this.#alike.set(textOf({ folder, name }), { folder, name })
    return this.#alike.size >= ALIKE
  }

  /** Ends a run. Pictures that were refused together with all others have not failed. */
  async end(): Promise<void> {
    if (this.#notFailed.length > 0) await this.#commit(tx => refusedByAll(tx, this.#notFailed))
  }

  async #weighRefusal(
    key: FileKey,
    failed: UploadResult & { code: string; mime?: string },
    refusal: HostFailure,
  ): Promise<UploadResult> {
    const { endpoint, status, remedy } = refusal
    const way = wayOf(refusal)
    const wasRefused = this.#refused.get(textOf(key))?.way === way || this.#hasFailed(key, failed.code)
    // A picture that was refused in this way before others were taken shows nothing about others.
    const isKnown = wasRefused && !this.#alike.has(textOf(key))
    // Where others are taken, a credential that was perhaps too old shows nothing about others, unless it happens again.
    const isOfAge = refusal.aged === true && this.#hasServed && !isKnown
    this.#hasAnswered ||= endpoint === this.#block?.endpoint
    const isOneTooMany = !isKnown && !isOfAge && remedy !== 'change_picture' && this.count(key, refusal)
    const isOfPicture = failed.mime !== undefined && (endpoint === 'upload' || endpoint === 'send')
    if (isOfPicture && !isOfAge && (status === UNSUPPORTED_TYPE || OF_TYPE.has(remedy))) {
      const message = await this.#typeRefused(key, failed.mime!, refusal)
      if (message !== null) return { kind: 'waits', message }
    } else await this.#goLast({ ...key, way })
    if (isOneTooMany) this.#shut = endpoint
    if (this.#shut !== endpoint) return failed
    this.#notFailed.push(...this.#alike.values(), key)
    return refusing(refusal)
  }

  /** Notes that the host refused a picture, which then comes last. Returns why it waits. Null: its type is not refused. */
  async #typeRefused(key: FileKey, mime: string, refusal: HostFailure): Promise<Reason | null> {
    const { status, message: said } = refusal
    const way = wayOf(refusal)
    const alike = [...this.#refused.values()].filter(one => one.mime === mime && one.way === way)
    const others = alike.filter(one => textOf(one) !== textOf(key))
    const isSure = status === UNSUPPORTED_TYPE || alike.some(({ crossed }) => crossed)
    const known = this.#blockOf(row => row.endpoint === ofType(mime))
    const isRefused = known !== undefined || (isSure && others.length + 1 >= ALIKE)
    const { clock, emit } = this.#context
    const at = Math.round(clock.wall())
    const why = known?.message ?? because('format_refused', { mime, why: reasonIn(said, 'said') ?? said })
    if (isRefused) this.#alike.clear()
    await this.#goLast({ ...key, mime, way }, tx => {
      if (!isRefused) return
      tx.account.block({ endpoint: ofType(mime), code: FORMAT_REFUSED, message: why, since: at, said_at: at })
      refusedByAll(tx, others)
      for (const one of others)
        if (tx.files.at(one)?.state === 'pending') waits(tx, one, { why, until: null, at })
    })
    if (!isRefused) return null
    if (this.#asking.get(ofType(mime)) === textOf(key)) this.#asking.set(ofType(mime), null)
    if (!known) emit({ event: 'format_refused', format: mime, message: why })
    return why
  }

  #hasFailed(key: FileKey, code: string): boolean {
    const failure = this.#context.synced.failures.ofUpload(key)
    return failure?.code === code && failure.refusals > 0
  }

  /** Whether a 5xx of step 1 concerns only this picture: others were taken, or it has failed by itself before. */
  #isOfPicture(key: FileKey, { othersServed }: HostFailure, code: string): boolean {
    if (othersServed) return true
    return this.#refused.has(textOf(key)) && (this.#hasServed || this.#hasFailed(key, code))
  }

  async #served(key: FileKey, mime: string | undefined): Promise<void> {
    this.#hasServed = true
    const wasRefused = this.#refused.delete(textOf(key))
    let isNews = wasRefused
    for (const [text, { mime: type, crossed, ...one }] of this.#refused) {
      if (type === undefined || (type !== mime && crossed)) continue
      this.#refused.set(text, type === mime ? one : { ...one, mime: type, crossed: true })
      isNews = true
    }
    if (mime !== undefined) await this.#unblock(ofType(mime))
    for (const endpoint of ['upload', 'send'] as const) await this.#works(endpoint)
    // What was refused before is tried again, because the reason may be gone.
    if (isNews) await this.#commit(tx => wasRefused && retried(tx, [...this.#refused.values()]))
  }

  /** Notes that the endpoint did what it was asked. */
  async #works(endpoint: Endpoint): Promise<void> {
    if (this.#alike.size > 0 && this.#way.startsWith(`${endpoint} `)) {
      this.#alike.clear()
      await this.#commit(() => {})
    }
    if (this.#shut !== endpoint) return
    this.#shut = null
    await this.#unblock(endpoint)
  }

  async #unblock(what: string): Promise<void> {
    const { synced } = this.#context
    if (synced.account.blocks().some(({ endpoint }) => endpoint === what))
      await synced.commit(tx => tx.account.unblock(what))
  }

  #goLast(file: Refused, also = (_: Tx) => {}): Promise<void> {
    const before = this.#refused.get(textOf(file))
    this.#refused.delete(textOf(file))
    this.#refused.set(textOf(file), { ...before, ...file })
    return this.#commit(also)
  }

  /** Records the refused pictures, and what `also` records. */
  #commit(also: (tx: Tx) => void): Promise<void> {
    return this.#context.synced.commit(tx => {
      also(tx)
      const latest = [...this.#refused].slice(-MOST)
      const tagged = latest.map(([text, one]) => ({ ...one, alike: this.#alike.has(text) }))
      tx.meta.set('refused', tagged)
    })
  }

  #unlessAsking(file: FileKey, block: BlockRow | undefined): Reason | null {
    if (!block) return null
    const { endpoint, message } = block
    if (this.#isDue(block) && !this.#asking.has(endpoint)) this.#asking.set(endpoint, textOf(file))
    return this.#asking.get(endpoint) === textOf(file) ? null : message
  }

  /** Whether a blocked endpoint or type is asked now. Also when `said_at` lies in the future, after the clock was set back. */
  #isDue(block: BlockRow): boolean {
    const { clock, allowance } = this.#context
    const now = clock.wall()
    return now < block.said_at || now >= triedAgainAt(block, allowance)
  }

  #blockOf(isIt: (row: BlockRow) => boolean): BlockRow | undefined {
    return this.#context.synced.account.blocks().find(row => row.code === FORMAT_REFUSED && isIt(row))
  }
}

type BreakerPort = Pick<EngineContext, 'synced' | 'clock' | 'allowance' | 'emit'>

/** The pictures that an earlier run has counted. */
function alikeAmong(refused: ReadonlyMap<string, Refused>): [string, Refused][] {
  return [...refused].filter(([_, { alike }]) => alike)
}

function wayOf({ endpoint, code, status, remedy }: HostFailure): string {
  return `${endpoint} ${code} ${status} ${remedy}`
}

function ofType(mime: string): string {
  return `upload ${mime}`
}

function refusing(failure: HostFailure): UploadResult {
  const why = reasonIn(failure.message, 'said') ?? failure.message
  const message = because('host_refuses', { why })
  return { kind: 'stop', failure: { ...failure, code: HOST_REFUSES, remedy: 'refused_by_node', message } }
}
