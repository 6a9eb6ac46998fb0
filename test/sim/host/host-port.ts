import { answerTo } from '../../../src/host/decisions.ts'
import { type Reason, Refusal } from '../../../src/host/refusal.ts'
import type { Endpoint } from '../../../src/protocol/endpoints.ts'
import {
  cancelled,
  doubted,
  garbled,
  isOutage,
  ownFailure,
  refused,
  unanswered,
  wasNotDone,
} from '../../../src/remote/failures.ts'
import { Blocks } from '../../../src/remote/gate/blocks.ts'
import {
  type Block,
  type HostFailure,
  type ImageHost,
  type Outcome,
  type PictureBody,
  PictureChanged,
} from '../../../src/remote/host.ts'
import { Lives } from '../../../src/remote/line/line.ts'
import { because, said } from '../../../src/words/reasons.ts'
import { hashOf } from '../disk/tree.ts'
import type { Life } from '../engine/virtual-clock.ts'
import { LIFETIME_MS } from '../histories/variations.ts'
import type { TakeBack, Watch } from '../judges/facts.ts'
import { SECRET } from '../judges/secrecy.ts'
import { altered } from './alterations.ts'
import { CLOSED, type Fault } from './faults.ts'
import type { Actor } from './host-truth.ts'
import { OwnRefusal } from './refused-format.ts'
import type { VirtualHost } from './virtual-host.ts'

const NODE = `https://node.example/${SECRET}/`

/** The host as one process sees it, with all that goes wrong. Calls are properties: the engine copies them. */
export class HostPort implements ImageHost {
  readonly #host: VirtualHost
  readonly #life: Life
  /** That a format is refused. */
  readonly #ofFormat = new WeakSet<HostFailure>()
  readonly #watch: Watch
  readonly #me: Actor
  readonly #see: (what: string) => void
  readonly #blocks = new Blocks()
  readonly #lives = new Lives()
  /** By token, when the process got it, by its two clocks. */
  readonly #granted = new Map<string, { at: number; wall: number }>()

  /** `see` hears of what goes wrong on the way. */
  constructor(host: VirtualHost, life: Life, watch: Watch, me: Actor, see: (what: string) => void) {
    this.#see = see
    this.#me = me
    this.#host = host
    this.#life = life
    this.#watch = watch
  }

  requestUpload = async (request: Parameters<ImageHost['requestUpload']>[0], signal: AbortSignal) => {
    const serve = async () => {
      const { token, cdnUrl } = this.#host.requestUpload(request, this.#me)
      return { uploadUrl: NODE + token, cdnUrl, imageId: null }
    }
    const granted = await this.#persist('upload', request.file_name, signal, serve, () =>
      this.#watch.credential(request.file_name),
    )
    const { clock } = this.#life
    if (granted.ok && this.#host.variations.keeps !== null)
      this.#granted.set(tokenOf(granted.value), { at: clock.monotonic(), wall: clock.wall() })
    return granted
  }

  send = async (credential: { uploadUrl: string }, picture: PictureBody, signal: AbortSignal) => {
    const token = tokenOf(credential)
    const source = this.#watch.sending(picture)
    let bytes: Buffer
    try {
      bytes = await whole(picture)
    } catch (error) {
      const failure = ownFailure('send', 'PICTURE_CHANGED', because('picture_changed'))
      if (error instanceof PictureChanged) return { ok: false as const, failure }
      throw error
    }
    const sent = await this.#persist('send', source, signal, () =>
      this.#host.send(token, picture.fileName, bytes, source, this.#me),
    )
    if (!sent.ok) this.#host.cut(token, bytes.length)
    return this.#withAge(token, sent, source)
  }

  list = (album: string | null, page: number, signal: AbortSignal) => {
    return this.#persist('list', album ?? '', signal, async () => this.#host.list(album, page))
  }

  deleteImage = (id: string, signal: AbortSignal, mayGo?: () => boolean) => {
    const serve = () => this.#host.deleteImage(id, this.#me)
    return this.#delete(id, signal, serve, () => this.#watch.imageDeletion(id), mayGo)
  }

  deleteAlbum = (id: string, signal: AbortSignal, mayGo?: () => boolean) => {
    const serve = () => this.#host.deleteAlbum(id, this.#me)
    return this.#delete(id, signal, serve, () => this.#watch.albumDeletion(id), mayGo)
  }

  createAlbum = (
    { name, parent_album }: Parameters<ImageHost['createAlbum']>[0],
    signal: AbortSignal,
    mayGo?: () => boolean,
  ) => {
    let sawUntil = 0
    const leaves = () => {
      sawUntil = this.#watch.albumCreation()
    }
    const serve = async () => this.#host.makeAlbum(name, parent_album ?? null, this.#me, sawUntil)
    return this.#persist('create_album', name, signal, serve, leaves, mayGo)
  }

  fetchDelivered: ImageHost['fetchDelivered'] = async (cdnUrl, maxBytes, signal, take) => {
    await this.#life.pause('delivery')
    if (signal.aborted) return { ok: false, code: 'CANCELLED', message: said('the request was cancelled') }
    this.#host.asked.others++
    const image = this.#host.deliver(cdnUrl)
    const bytes = image ? altered(image.bytes, this.#host.variations.alters) : Buffer.from('not found')
    if (bytes.length > maxBytes) return { ok: false, code: 'HOST_ANSWER', message: said('it is too long') }
    if (image) this.#watch.fetched(image.id)
    if (image) take?.(bytes)
    const sha256 = Buffer.from(hashOf(bytes), 'hex')
    return { ok: true, status: image ? 200 : 404, size: bytes.length, sha256 }
  }

  blocks = (): Block[] => {
    return this.#blocks.list()
  }

  unblock = (endpoint: Endpoint): void => {
    this.#blocks.open(endpoint)
  }

  askNow = (): void => {}

  close = async () => null

  async #delete<T>(
    id: string,
    signal: AbortSignal,
    serve: () => Promise<T>,
    leaves: () => TakeBack,
    mayGo: (() => boolean) | undefined,
  ): Promise<Outcome<T>> {
    const tries: TakeBack[] = []
    const outcome = await this.#persist('delete', id, signal, serve, () => void tries.push(leaves()), mayGo)
    // A target that the host does not know is gone.
    const isThere = !outcome.ok && outcome.failure.remedy !== 'gone' && wasNotDone(outcome.failure)
    if (isThere) for (const takeBack of tries) takeBack()
    return outcome
  }

  /** As the client: tells whether the age of a credential may be why the node refuses it. */
  #withAge<T>(token: string, sent: Outcome<T>, source: string): Outcome<T> {
    const granted = this.#granted.get(token)
    if (!granted) return sent
    const { clock } = this.#life
    const age = Math.max(clock.monotonic() - granted.at, clock.wall() - granted.wall)
    if (sent.ok) {
      this.#lives.took(age)
      return sent
    }
    const { remedy, code, status } = sent.failure
    const isRefused = remedy === 'refused_by_node' && status !== undefined && code !== 'HOST_ANSWER'
    const aged = isRefused && this.#lives.mayBeTooOld(age)
    if (isRefused && this.#host.isTooOld(token)) this.#watch.credentialTooOld(source, aged)
    return aged ? { ok: false, failure: { ...sent.failure, aged } } : sent
  }

  /** As the gate: a state of the account is remembered, passing trouble is waited out once. */
  async #persist<T>(
    endpoint: Endpoint,
    about: string,
    signal: AbortSignal,
    serve: () => Promise<T>,
    leaves: () => void = () => {},
    mayGo: () => boolean = () => true,
  ): Promise<Outcome<T>> {
    let unsure = false
    for (let tries = 1; ; tries++) {
      const blocked = signal.aborted ? cancelled(endpoint, 'nothing') : this.#blocks.of(endpoint)
      if (blocked) return unsure ? doubted(blocked) : { ok: false, failure: blocked }
      const hear = this.#ask(endpoint)
      const once = await this.#once(endpoint, about, signal, serve, leaves, mayGo)
      hear(once)
      const outcome = unsure && !once.ok ? doubted(once.failure) : once
      unsure ||= !once.ok && !wasNotDone(once.failure)
      if (!outcome.ok) this.#blocks.note(outcome.failure, this.#life.clock.monotonic())
      const again = !outcome.ok && outcome.failure.remedy === 'later' && isOutage(outcome.failure)
      if (!again || tries > 1) return outcome
      await this.#life.clock.sleep(1000, signal)
    }
  }

  /** A request has passed the gate. Answers who hears what it is answered. */
  #ask(endpoint: Endpoint): (outcome: Outcome<unknown>) => void {
    const { quota } = this.#watch
    if (endpoint !== 'upload' || this.#life.dead) return () => {}
    const request = quota.asked()
    return outcome => {
      if (this.#life.dead) return
      if (outcome.ok) quota.granted(request)
      else if (outcome.failure.remedy === 'quota') quota.refused(request)
    }
  }

  async #once<T>(
    endpoint: Endpoint,
    about: string,
    signal: AbortSignal,
    serve: () => Promise<T>,
    leaves: () => void,
    mayGo: () => boolean,
  ): Promise<Outcome<T>> {
    const life = this.#life
    await life.pause(`before ${endpoint}`)
    this.#host.asked[endpoint === 'list' ? 'lists' : 'others']++
    if (signal.aborted || !mayGo()) return { ok: false, failure: cancelled(endpoint, 'nothing') }
    // The last look may have been its end.
    if (life.dead) return new Promise(() => {})
    const fault = this.#host.faults.take(endpoint)
    if (fault) this.#see(`fault ${endpoint} ${fault.kind}`)
    if (fault?.kind === 'unreached') return this.#silence(endpoint, 'nothing')
    if (fault?.kind === 'refused' || fault?.kind === 'closed') return this.#refuse(endpoint, about, fault)
    leaves()
    if (fault?.kind === 'page') {
      await life.pause(`${endpoint} turned away`)
      return {
        ok: false,
        failure: garbled(endpoint, fault.left, 413, said('a proxy says that it is too large')),
      }
    }
    if (fault?.kind === 'cut') return this.#silence(endpoint, endpoint === 'send' ? 'part' : 'all')
    if (fault?.kind === 'never') return this.#silence(endpoint, 'all')
    const { random, sendMs } = this.#host
    const lag = 5 + random.below(endpoint === 'send' ? sendMs : 400)
    const what = `${endpoint} ${about}`
    if (fault?.kind === 'late') {
      const late = () => {
        this.#see(`late ${endpoint}`)
        void this.#served(endpoint, serve)
      }
      life.time.after(lag + random.below(LIFETIME_MS - 60_000), late, `${what} arrives late`)
      return this.#silence(endpoint, 'all')
    }
    const answer = this.#onItsWay(endpoint, what, signal, serve, lag)
    if (fault === null) return this.#heard(await answer)
    await answer
    if (fault.kind === 'lost') return this.#silence(endpoint, 'all')
    if (fault.kind === 'twice') return this.#heard(await this.#served(endpoint, serve))
    return { ok: false, failure: garbled(endpoint, 'all', 502, said('the answer is not of the interface')) }
  }

  async #refuse(
    endpoint: Endpoint,
    about: string,
    fault: Extract<Fault, { kind: 'refused' | 'closed' }>,
  ): Promise<{ ok: false; failure: HostFailure }> {
    if (endpoint === 'delete') this.#watch.deletionRefused(about)
    await this.#life.pause(`${endpoint} refused`)
    if (fault.kind === 'refused')
      return { ok: false, failure: this.#refusal(endpoint, fault.code, 'The host says so.') }
    const { status, code } = fault
    return { ok: false, failure: refused(endpoint, status, { error: CLOSED, code }, []) }
  }

  /** What has left is served or not, whatever becomes of its sender meanwhile. */
  #onItsWay<T>(
    endpoint: Endpoint,
    what: string,
    signal: AbortSignal,
    serve: () => Promise<T>,
    lag: number,
  ): Promise<Outcome<T>> {
    const life = this.#life
    const { random } = this.#host
    const dropped = random.chance(0.5)
    const back = 1 + random.below(100)
    return new Promise(resolve => {
      const end = () => {
        if (!life.dead) resolve({ ok: false, failure: cancelled(endpoint, 'all') })
      }
      signal.addEventListener('abort', end)
      const arrive = async () => {
        if (dropped && (life.dead || signal.aborted)) return
        life.step(`${endpoint} arrives`)
        const outcome = await this.#served(endpoint, serve)
        life.step(`${endpoint} served`)
        life.time.after(back, () => {
          signal.removeEventListener('abort', end)
          if (!life.dead) resolve(outcome)
        })
      }
      life.time.after(lag, arrive, `${what} arrives`)
    })
  }

  async #served<T>(endpoint: Endpoint, serve: () => Promise<T>): Promise<Outcome<T>> {
    try {
      return { ok: true, value: await serve() }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error instanceof OwnRefusal) {
        const { status, code, message } = error
        const failure = refused(endpoint, status, { error: message, code }, [])
        this.#ofFormat.add(failure)
        return { ok: false, failure }
      }
      return { ok: false, failure: this.#refusal(endpoint, error.reason, error.message) }
    }
  }

  /** Whoever has not heard that a format is refused may ask again. */
  #heard<T>(outcome: Outcome<T>): Outcome<T> {
    if (!outcome.ok && this.#ofFormat.has(outcome.failure)) this.#host.asked.refused++
    return outcome
  }

  #refusal(endpoint: Endpoint, reason: Reason, error: string): HostFailure {
    const own = endpoint === 'delete' && reason === 'NOT_FOUND' ? this.#host.variations.goneAs : null
    const { code, status } = own ?? answerTo(reason, this.#host.readings)
    return refused(endpoint, status, { error, code }, [])
  }

  async #silence(
    endpoint: Endpoint,
    left: 'nothing' | 'part' | 'all',
  ): Promise<{ ok: false; failure: HostFailure }> {
    await this.#life.pause(`${endpoint} in silence`)
    const message = said('the host did not answer')
    return {
      ok: false,
      failure: unanswered(endpoint, { kind: 'silence', left, code: 'HOST_UNREACHABLE', message }),
    }
  }
}

function tokenOf({ uploadUrl }: { uploadUrl: string }): string {
  return uploadUrl.slice(NODE.length)
}

async function whole(picture: PictureBody): Promise<Buffer> {
  if (picture.bytes) return Buffer.from(picture.bytes)
  const parts: Uint8Array[] = []
  for await (const part of picture.chunks()) parts.push(part)
  return Buffer.concat(parts)
}
