import type { Hono } from 'hono'
import { type Close, serveControl } from '../daemon/control/server.ts'
import type { Bus } from '../daemon/events.ts'
import type { DaemonView, Display } from '../daemon/loop/supervisor.ts'
import { type Alert, isTrouble } from '../daemon/notify/health.ts'
import { locationOf } from '../daemon/report/mirrored-pictures.ts'
import { stateFiles } from '../daemon/state/claim.ts'
import type { Clock } from '../protocol/clock.ts'
import { deliveryAddresses } from '../sync/listing/index.ts'
import { pageApp, type Sources } from './app.ts'
import type { PageNow } from './ask.ts'
import { type Fields, PageCommands } from './commands.ts'
import { type Recorded, readAlerts, readRecorded } from './facts.ts'
import { newSecret, readOrMakeKey } from './guard.ts'
import { Metrics } from './metrics.ts'
import { PageServer, type PageUrl } from './page-server.ts'
import { RecentLog } from './recent-log.ts'
import { type Thumbnail, Thumbnails } from './thumbnails.ts'
import { UnderWayPictures } from './under-way.ts'
import { documentOf } from './view/document.ts'

/** The status page of a running daemon: for browsers at `status_page.listen`, and on a socket in the state folder. Where
 * `picgo_server` names a folder, PicGo's interface is beside it. It listens to the bus, reads the records, and gives people's commands to the daemon. */
export class StatusPage implements Display, Sources {
  readonly token = newSecret()
  readonly #clock: Clock
  readonly #bus: Bus
  readonly #underWay: UnderWayPictures
  readonly #metrics: Metrics
  readonly #log: RecentLog
  readonly #thumbnails: Thumbnails
  readonly #commands: PageCommands
  #daemon: DaemonView | null = null
  #server: PageServer | null = null
  #picgo: PageServer | null = null
  #socket: Close | null = null
  #openSocket: () => Promise<Close | null> = async () => null
  #signAt: number
  #saidLast = ''

  constructor(clock: Clock, bus: Bus) {
    const now = () => clock.monotonic()
    this.#clock = clock
    this.#bus = bus
    this.#underWay = new UnderWayPictures(now)
    this.#metrics = new Metrics(now)
    this.#log = new RecentLog(clock, bus)
    this.#commands = new PageCommands(now)
    this.#thumbnails = new Thumbnails(now)
    this.#signAt = now()
    this.#listen(bus)
  }

  #listen(bus: Bus): void {
    bus.on('alive', () => {
      this.#signAt = this.#clock.monotonic()
    })
    bus.on('news', emitted => this.#metrics.hear(emitted))
    bus.on('daemon', ({ event }) => {
      if (event === 'config_taken' && this.#daemon) void this.#listenAt(this.#daemon)
    })
    bus.on('request', request => this.#metrics.requested(request))
    bus.on('sending', sending => this.#underWay.hear(sending))
  }

  async open(daemon: DaemonView): Promise<void> {
    this.#daemon = daemon
    const config = daemon.config()
    const { page, pageKey } = stateFiles(config.state_dir)
    const lock = { key: readOrMakeKey(pageKey), keyFile: pageKey }
    const atSocket = pageApp(this, null)
    this.#openSocket = () => this.#serveSocket(atSocket, page)
    this.#server = new PageServer(pageApp(this, lock), this.#bus.say)
    this.#socket = await this.#openSocket()
    await this.#listenAt(daemon)
  }

  async #listenAt({ config, queue }: DaemonView): Promise<void> {
    const { status_page, picgo_server, state_dir } = config()
    await this.#server?.listenAt(status_page.listen)
    const isOn = picgo_server.folder !== undefined
    if (isOn && this.#picgo === null) {
      const { PICGO, picgoApp } = await import('./picgo/picgo-app.ts')
      const key = readOrMakeKey(stateFiles(state_dir).pageKey)
      this.#picgo = new PageServer(picgoApp(queue, this.#bus, key), this.#bus.say, PICGO)
    }
    await this.#picgo?.listenAt(isOn ? picgo_server.listen : null)
  }

  async folderRenewed(): Promise<void> {
    await this.#socket?.()
    this.#socket = await this.#openSocket()
  }

  async close(): Promise<void> {
    this.#thumbnails.close()
    await Promise.all([this.#server?.listenAt(null), this.#picgo?.listenAt(null), this.#socket?.()])
  }

  /** The address for a browser. Null: the page is not open. */
  get pageUrl(): PageUrl | null {
    return this.#server?.pageUrl ?? null
  }

  /** Tells an error once, because it may come again each time the page is drawn. */
  failed(error: unknown): void {
    const { message } = error as Error
    if (message !== this.#saidLast) this.#bus.say(`the status page: ${message}`)
    this.#saidLast = message
  }

  document(): string {
    const now = this.#clock.wall()
    const facts = {
      recorded: this.#recorded(now),
      problem: this.#daemon!.problem(),
      underWay: this.#underWay.pictures(),
      rate: this.#underWay.rate(),
      commands: this.#commands.latest(),
      log: this.#log.lines,
    }
    return documentOf(facts, this.token, now)
  }

  now(): PageNow {
    const { config, configFile, problem } = this.#daemon!
    return {
      pid: process.pid,
      config: configFile,
      mirrors: config().mirrors,
      problem: problem(),
      page: this.pageUrl!,
      picgo_server: this.#picgo?.pageUrl ?? null,
      uploading: this.#underWay.pictures(),
      rate: this.#underWay.rate(),
    }
  }

  /** The thumbnail of an image. Only an image that waits for its deletion is fetched from the host. */
  async thumbnail(id: number): Promise<Thumbnail | null> {
    const session = this.#daemon?.queue.session
    if (!session) return null
    const { config, synced } = session
    const place = locationOf(config, synced, id)
    if (place) return this.#thumbnails.read(config, place)
    const image = synced.escrow.of(id) && synced.images.byId(id)
    if (!image) return null
    const { remote_id, name } = image
    const url = image.cdn_url ?? deliveryAddresses(synced)(remote_id, name)
    return url === null ? null : this.#thumbnails.read(config, { remote_id, url })
  }

  metrics(): Promise<{ type: string; text: string }> {
    return this.#metrics.read(this.#daemon, this.alerts(), this.#clock.wall())
  }

  alerts(): Alert[] {
    return readAlerts(this.#daemon, this.#clock.wall(), this.#quietMs()).filter(isTrouble)
  }

  askFor(command: string, fields: Fields): boolean {
    const understood = this.#commands.askFor(this.#daemon!.queue, command, fields)
    if (understood) this.#bus.note({ event: 'asked_for', what: command })
    return understood
  }

  async #serveSocket(app: Hono, file: string): Promise<Close | null> {
    try {
      return await serveControl(app, file)
    } catch (error) {
      this.#bus.say(`${file}: the status page has no socket (${(error as Error).message})`)
      return null
    }
  }

  #quietMs(): number {
    return this.#clock.monotonic() - this.#signAt
  }

  /** What the page shows of the records. Null: the state is closed or can't be read. */
  #recorded(now: number): Recorded | null {
    const { session } = this.#daemon!.queue
    try {
      return session && readRecorded(session, now, this.#quietMs())
    } catch (error) {
      this.failed(error)
      return null
    }
  }
}
