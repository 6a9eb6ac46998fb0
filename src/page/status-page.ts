import type { Hono } from 'hono'
import { type Close, serveControl } from '../daemon/control/server.ts'
import type { Bus } from '../daemon/events.ts'
import type { DaemonView, Display } from '../daemon/loop/supervisor.ts'
import { version } from '../daemon/package.ts'
import { locationOf } from '../daemon/report/mirrored-pictures.ts'
import { stateFiles } from '../daemon/state/claim.ts'
import type { Clock } from '../sync/clock.ts'
import { type PageAccess, pageApp, readAssets, type Sources } from './app.ts'
import { askFor, PageCommands } from './commands.ts'
import { type Recorded, readHealth, readRecorded } from './facts.ts'
import { hasKey, isForwarded, newSecret, readOrMakeKey } from './guard.ts'
import { Listening, type PageUrl } from './listening.ts'
import { LogTail } from './log-tail.ts'
import { Metrics } from './metrics.ts'
import { isOwnUser } from './server.ts'
import { Thumbnails } from './thumbnails.ts'
import { UnderWayPictures } from './under-way.ts'
import { documentOf, type Parts, partsOf } from './view/document.ts'
import { Live, Viewers } from './viewers.ts'

/**
 * The status page of a running daemon: for browsers at `status_page.listen`, and on a socket in the state folder. It
 * listens to the bus, reads the records, and gives people's commands to the daemon.
 */
export class StatusPage implements Display {
  readonly #clock: Clock
  readonly #bus: Bus
  readonly #underWay: UnderWayPictures
  readonly #metrics: Metrics
  readonly #log = new LogTail()
  readonly #thumbnails = new Thumbnails()
  readonly #viewers = new Viewers()
  readonly #token = newSecret()
  readonly #live: Live
  readonly #commands: PageCommands
  #daemon: DaemonView | null = null
  #listening: Listening | null = null
  #socket: Close | null = null
  #openSocket: () => Promise<Close | null> = async () => null
  #signAt: number
  #saidLast = ''

  /** Listens to `bus` from here on. */
  constructor(clock: Clock, bus: Bus) {
    const now = () => clock.monotonic()
    this.#clock = clock
    this.#bus = bus
    this.#underWay = new UnderWayPictures(now)
    this.#metrics = new Metrics(now)
    this.#live = new Live(this.#viewers, () => this.#parts(), now, this.#failed)
    this.#commands = new PageCommands(this.#live.changed, now)
    this.#signAt = now()
    this.#listen(bus)
  }

  #listen(bus: Bus): void {
    bus.on('alive', () => this.#alive())
    bus.on('news', told => {
      this.#metrics.hear(told)
      this.#live.changed()
    })
    bus.on('daemon', ({ event }) => {
      if (event === 'config_taken' && this.#daemon)
        void this.#listening?.at(this.#daemon.config().status_page.listen)
      this.#live.changed()
    })
    bus.on('request', request => this.#metrics.requested(request))
    bus.on('sending', sending => {
      this.#underWay.hear(sending)
      this.#live.changed()
    })
    bus.on('logged', line => {
      this.#log.hear(line)
      this.#live.changed()
    })
  }

  async open(daemon: DaemonView): Promise<void> {
    this.#daemon = daemon
    const config = daemon.config()
    const { page, pageKey } = stateFiles(config.state_dir)
    const sources = this.#sources()
    const key = readOrMakeKey(pageKey)
    const browsers: PageAccess = {
      anyHost: false,
      isUser: context => {
        const header = (name: string) => context.req.header(name)
        return (isOwnUser(context) && !isForwarded(header)) || hasKey(header('authorization'), key)
      },
      whoMay:
        'This is the page of the user who runs albumd. It opens by itself for that user on this machine. ' +
        `Others need the key for a password; the user, and root, find it in ${pageKey}.`,
    }
    const atSocket = pageApp(sources, { anyHost: true, isUser: () => true, whoMay: '' })
    this.#openSocket = () => this.#serveSocket(atSocket, page)
    this.#socket = await this.#openSocket()
    this.#listening = new Listening(pageApp(sources, browsers), this.#bus.say)
    await this.#listening.at(config.status_page.listen)
  }

  async folderRenewed(): Promise<void> {
    await this.#socket?.()
    this.#socket = await this.#openSocket()
  }

  async close(): Promise<void> {
    this.#live.close()
    this.#viewers.close()
    await Promise.all([this.#listening?.close(), this.#socket?.()])
  }

  /** The address for a browser. Null: the page is not open. */
  get pageUrl(): PageUrl | null {
    return this.#listening?.pageUrl ?? null
  }

  #alive(): void {
    this.#signAt = this.#clock.monotonic()
  }

  /** Says an error once that comes each time the page is drawn. */
  readonly #failed = (error: unknown): void => {
    const { message } = error as Error
    if (message !== this.#saidLast) this.#bus.say(`the status page: ${message}`)
    this.#saidLast = message
  }

  async #serveSocket(app: Hono, file: string): Promise<Close | null> {
    try {
      return await serveControl(app, file)
    } catch (error) {
      this.#bus.say(`${file}: the status page has no socket (${(error as Error).message})`)
      return null
    }
  }

  #sources(): Sources {
    const quietMs = () => this.#clock.monotonic() - this.#signAt
    return {
      assets: readAssets(),
      token: this.#token,
      document: () => documentOf(this.#parts()),
      now: () => ({ page: this.pageUrl, uploading: this.#underWay.pictures() }),
      events: () => this.#viewers.welcome(version),
      thumbnail: async (of, id) => {
        const place = of === 'picture' ? this.#placeOf(id) : this.#underWay.byId(id)
        return place ? this.#thumbnails.read(place.mirror, place.path) : null
      },
      metrics: async () => ({
        type: this.#metrics.contentType,
        text: await this.#metrics.text(this.#daemon, this.#clock.wall()),
      }),
      health: () => readHealth(this.#daemon, this.#clock.wall(), quietMs()),
      askFor: (command, fields) => {
        const understood = askFor(this.#commands, this.#daemon!.queue, command, fields)
        if (understood) this.#bus.note({ event: 'asked_for', what: command })
        return understood
      },
      failed: this.#failed,
    }
  }

  #placeOf(image: number): { mirror: string; path: string } | null {
    const { session } = this.#daemon!.queue
    return session && locationOf(session.config, session.synced, image)
  }

  #parts(): Parts {
    const now = this.#clock.wall()
    const facts = {
      recorded: this.#recorded(now),
      stateProblem: this.#daemon!.problem(),
      underWay: this.#underWay.pictures(),
      rate: this.#underWay.rate(),
      commands: this.#commands.latest(),
      log: this.#log.lines(),
    }
    return partsOf(facts, this.#token, now)
  }

  /** Null where the state is closed or can't be read. */
  #recorded(now: number): Recorded | null {
    try {
      return readRecorded(this.#daemon!, now, this.#clock.monotonic() - this.#signAt)
    } catch (error) {
      this.#failed(error)
      return null
    }
  }
}
