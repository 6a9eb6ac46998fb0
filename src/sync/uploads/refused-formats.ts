import { refusedByAll } from '../../records/pictures.ts'
import { waits } from '../../records/waits.ts'
import { FORMAT_REFUSED } from '../../remote/failures.ts'
import type { HostFailure, Remedy } from '../../remote/host.ts'
import type { Records, Tx } from '../../synced/synced.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import { type FileKey, textOf } from '../../synced/tables/files.ts'
import type { Refused } from '../../synced/tables/meta.ts'
import { because, type Reason, reasonIn } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'
import { triedAgainAt } from '../quota/index.ts'

/** What the host refuses, by what the refusal means: not what is too large, or has wrong dimensions. */
const OF_FORMAT: ReadonlySet<Remedy> = new Set<Remedy>(['change_request', 'refused_by_node', 'not_permitted'])
/** This status says that the type is refused (RFC 9110), not the picture. */
const UNSUPPORTED_TYPE = 415

export type FormatPort = Pick<EngineContext, 'synced' | 'clock' | 'allowance' | 'emit'>

/** The formats that the host refuses, while pictures wait for that. */
export function refusedFormats({ account, waits }: Records): BlockRow[] {
  return account.blocks().filter(({ code, message }) => code === FORMAT_REFUSED && waits.anyFor(message))
}

/** An audit was made: the host is asked about each refused format again. */
export function askFormatsAgain({ account }: Tx): void {
  for (const row of account.blocks())
    if (row.code === FORMAT_REFUSED) account.block({ ...row, said_at: row.since })
}

/** Formats that the host refuses. When `alike` different pictures of one MIME type were refused in the same way, and a
 * picture of another type was taken in between, the type is blocked: its pictures wait, and have not failed. Without the
 * picture in between, the host may refuse all. One picture of the type asks again now and then, and the first that is taken
 * ends the block. */
export class RefusedFormats {
  readonly #context: FormatPort
  readonly #refused: Map<string, Refused>
  readonly #alike: number
  /** By the block's endpoint, the picture that asks in this run. */
  readonly #asking = new Map<string, string>()

  constructor(context: FormatPort, refused: Map<string, Refused>, alike: number) {
    this.#context = context
    this.#refused = refused
    this.#alike = alike
  }

  /** Why a picture waits that a run before has read; null: it is to be read. */
  whyUnread(file: FileKey): Reason | null {
    const blocks = this.#blocks()
    const own = blocks.length > 0 ? this.#context.synced.waits.of(file)?.why : undefined
    return this.#unlessAsking(
      file,
      blocks.find(({ message }) => message === own),
    )
  }

  /** Why a picture of this type waits; null: it may be sent. */
  why(file: FileKey, mime: string): Reason | null {
    return this.#unlessAsking(file, this.#blockOf(mime))
  }

  /** Counts a refusal. Returns why the picture waits; null: the host has not refused its type. */
  async refused(key: FileKey, mime: string | undefined, failure: HostFailure): Promise<Reason | null> {
    const { endpoint, code, status, remedy, message: said } = failure
    const isOfType = status === UNSUPPORTED_TYPE
    if (mime === undefined || (endpoint !== 'upload' && endpoint !== 'send')) return null
    if (!isOfType && !OF_FORMAT.has(remedy)) return null
    const way = `${endpoint} ${code} ${status}`
    const alike = [...this.#refused.values()].filter(one => one.mime === mime && one.way === way)
    const others = alike.filter(one => textOf(one) !== textOf(key))
    const isSure = isOfType || alike.some(({ crossed }) => crossed)
    const known = this.#blockOf(mime)
    this.#refused.set(textOf(key), { ...this.#refused.get(textOf(key)), ...key, mime, way })
    if (!known && !(isSure && others.length + 1 >= this.#alike)) return null
    const { synced, clock, emit } = this.#context
    const at = Math.round(clock.wall())
    const why = known?.message ?? because('format_refused', { mime, why: reasonIn(said, 'said') ?? said })
    await synced.commit(tx => {
      tx.account.block({ endpoint: ofType(mime), code: FORMAT_REFUSED, message: why, since: at, said_at: at })
      refusedByAll(tx, others)
      for (const one of others)
        if (tx.files.at(one)?.state === 'pending') waits(tx, one, { why, until: null, at })
    })
    if (!known) emit({ event: 'format_refused', format: mime, message: why })
    return why
  }

  /** The host has taken a picture of this type. Returns whether the counts differ now. */
  async served(mime: string | undefined): Promise<boolean> {
    if (mime === undefined) return false
    let isNews = false
    for (const [text, one] of this.#refused) {
      const { mime: type, way: _, crossed, ...key } = one
      if (type === undefined || (type !== mime && crossed)) continue
      this.#refused.set(text, type === mime ? key : { ...one, crossed: true })
      isNews = true
    }
    const { synced } = this.#context
    if (this.#blockOf(mime))
      await synced.commit(({ account }) => {
        const endpoints = account.blocks().map(({ endpoint }) => endpoint)
        account.clearBlocks(endpoints.filter(endpoint => endpoint !== ofType(mime)))
      })
    return isNews
  }

  #unlessAsking(file: FileKey, block: BlockRow | undefined): Reason | null {
    if (!block) return null
    const { clock, allowance } = this.#context
    const { endpoint, said_at, message } = block
    const now = clock.wall()
    const isDue = now < said_at || now >= triedAgainAt(block, allowance)
    if (isDue && !this.#asking.has(endpoint)) this.#asking.set(endpoint, textOf(file))
    return this.#asking.get(endpoint) === textOf(file) ? null : message
  }

  #blocks(): BlockRow[] {
    return this.#context.synced.account.blocks().filter(({ code }) => code === FORMAT_REFUSED)
  }

  #blockOf(mime: string): BlockRow | undefined {
    return this.#blocks().find(({ endpoint }) => endpoint === ofType(mime))
  }
}

function ofType(mime: string): string {
  return `upload ${mime}`
}
