import type { Clock } from '../host.ts'

/** How fast a line is taken to be as long as nothing is known of it: half a megabit. Bytes a second. */
const ASSUMED_RATE = 64 * 1024

/**
 * All uploads that share the line are planned to end within this share of a credential's life (§8). The constants below
 * are shares of a credential's life too.
 */
const SHARED = 0.5
/** An upload that would have the line for itself and take longer than this does not begin. */
const ALONE = 0.8
/** The measured rate is a mean over about this time of sending. */
const WINDOW = 0.1
/** The measured rate counts once it was seen over this time of sending. */
const SEEN = 0.05
/** A measured rate is forgotten after this: the line may have become faster. */
const FRESH = 3

/** A waiting upload looks this often whether it may begin. */
const POLL_MS = 100
/**
 * A connection that takes this long to take a piece has full buffers; from then on it takes bytes as fast as they leave.
 * Before that the system takes some megabytes at once, however slow the line is.
 */
const FULL_MS = 20

/** How long an upload would take if it had the line for itself. */
export interface Slowness {
  ms: number
  bytesPerSecond: number
}

export interface LineOptions {
  clock: Clock
  /** How long a credential may be used (§8). */
  lifetimeMs: number
  /** The limit `uploads.bandwidth`, in bytes a second; Infinity without one. */
  ceiling: number
}

/** An upload's share of the line, from before its credential is asked for until the upload ends. */
export interface Passage {
  /** The credential's life begins now. */
  granted(): void
  /** What is left of the credential's life, in milliseconds. */
  leftMs(): number
  /**
   * The connection took so many bytes; it could have taken them since `from`. Returns false when the upload has to end:
   * the line has become so slow that the upload can't end in time, or that not all uploads can end in time and this one
   * began last.
   */
  taken(bytes: number, from: number): boolean
  /** The whole picture has arrived at the host. */
  arrived(): void
  leave(): void
}

interface Underway {
  /** Bytes that the connection has not taken yet. */
  unsent: number
  /** Bytes that have not left the machine: `unsent`, and those in the system's buffers. */
  left: number
  /** When its credential was granted. */
  since: number | null
}

/**
 * The way to the upload nodes, which all uploads share. It lets an upload begin only if the upload, beside those under
 * way, will end well within its credential's life. An upload that took longer would have cost quota for nothing, and its
 * next try would fail in the same way.
 *
 * Example: eight pictures of 10 MB wait, on a line of 100 KB/s. All at once they would need 800 seconds, but a credential
 * lives for 600: all eight would fail, over and over. So only as many begin at once as can be sent in half of the 600
 * seconds, which is two or three. A picture of 60 MB needs 600 seconds even alone. It is not begun but answered with the
 * time that it would take, and the smaller pictures go on.
 *
 * The line's rate is not known when the first upload begins, and it changes. Two measures are taken: one
 * from uploads that have arrived, which shows what the line can do at least, and one from connections that were kept
 * waiting, which shows how fast it is now. When the line becomes slower, uploads under way may no longer all end in time.
 * Then the one that began last ends, so that the others do end in time.
 */
export class Line {
  readonly #options: LineOptions
  /** In the order in which they began. */
  readonly #underway = new Set<Underway>()
  /** In the order in which they came. The first to come is the first to begin, so that none waits for ever. */
  readonly #waiting: symbol[] = []
  /** Bytes that full connections took, the time in which they took them, and when the last was taken. Both fade. */
  #measured = { bytes: 0, ms: 0, until: Number.NEGATIVE_INFINITY }
  /** The rate of the fastest upload that arrived lately. The line is at least this fast. */
  #proved = { rate: 0, at: Number.NEGATIVE_INFINITY }

  constructor(options: LineOptions) {
    this.#options = options
  }

  /**
   * Waits until an upload of so many bytes may begin. `slow`: it would take too long even alone, and does not begin. Null:
   * cancelled.
   */
  async enter(size: number, signal: AbortSignal): Promise<{ passage: Passage } | { slow: Slowness } | null> {
    const ticket = Symbol()
    this.#waiting.push(ticket)
    try {
      while (!signal.aborted) {
        const slow = this.tooSlowFor(size)
        if (slow) return { slow }
        this.#forgetExpired()
        const isFirst = this.#waiting[0] === ticket
        if (isFirst && (this.#underway.size === 0 || this.#hasRoomFor(size)))
          return { passage: this.admit(size) }
        await this.#options.clock.sleep(POLL_MS, signal)
      }
      return null
    } finally {
      this.#waiting.splice(this.#waiting.indexOf(ticket), 1)
    }
  }

  /** Lets an upload begin without looking at the line. */
  admit(size: number): Passage {
    const { clock } = this.#options
    const upload: Underway = { unsent: size, left: size, since: null }
    let began: number | null = null
    let lump: Lump | null = null
    this.#underway.add(upload)
    return {
      granted: () => {
        upload.since = clock.now()
      },
      leftMs: () => this.#leftMs(upload, clock.now()),
      taken: (bytes, from) => {
        const now = clock.now()
        began ??= from
        upload.unsent -= bytes
        if (now - from >= FULL_MS) {
          if (lump) this.#measure(lump, now)
          // The first long wait does not count: in that time the line may have sent what other uploads had in the buffers.
          lump = { bytes: 0, from: lump?.until ?? now, until: now }
        }
        // For each byte that a connection with full buffers takes, another one has left the machine.
        if (lump) {
          upload.left -= bytes
          lump.bytes += bytes
          lump.until = now
        }
        return this.#mayGoOn(upload)
      },
      arrived: () => {
        const now = clock.now()
        const rate = began !== null && now > began ? (size * 1000) / (now - began) : 0
        if (rate > 0 && rate >= this.#atLeast(now)) this.#proved = { rate, at: now }
      },
      leave: () => void this.#underway.delete(upload),
    }
  }

  /** Whether an upload of so many bytes is known to take too long for its credential, even alone. */
  tooSlowFor(size: number): Slowness | null {
    const { lifetimeMs, ceiling } = this.#options
    const bytesPerSecond = this.#knownRate() ?? ceiling
    const ms = (size * 1000) / bytesPerSecond
    return ms > lifetimeMs * ALONE ? { ms, bytesPerSecond } : null
  }

  /** The measured rate in bytes a second; null when it was not seen for long enough, or not lately. */
  #knownRate(): number | null {
    const { clock, lifetimeMs, ceiling } = this.#options
    const { bytes, ms, until } = this.#measured
    if (ms < lifetimeMs * SEEN || clock.now() - until > lifetimeMs * FRESH) return null
    const proved = this.#proved.at > until ? this.#proved.rate : 0
    return Math.min(Math.max((bytes * 1000) / ms, proved), ceiling)
  }

  /** Bytes a second that the line can do at least; 0 when nothing is known. */
  #atLeast(now: number): number {
    return now - this.#proved.at > this.#options.lifetimeMs * FRESH ? 0 : this.#proved.rate
  }

  #measure(lump: Lump, now: number): void {
    const { lifetimeMs } = this.#options
    const { bytes, ms, until } = this.#measured
    const isOld = now - until > lifetimeMs * FRESH
    // Time in which several uploads were sending counts once.
    const more = Math.max(0, lump.until - Math.max(lump.from, until))
    const rest = isOld ? 0 : Math.exp(-more / (lifetimeMs * WINDOW))
    this.#measured = {
      bytes: bytes * rest + lump.bytes,
      ms: ms * rest + more,
      until: Math.max(until, lump.until),
    }
  }

  #hasRoomFor(size: number): boolean {
    const { clock, lifetimeMs, ceiling } = this.#options
    const now = clock.now()
    // While the system's buffers fill, the line seems faster than it is. What has arrived is the safer measure.
    const proved = Math.max(ASSUMED_RATE, this.#atLeast(now))
    const rate = Math.min(this.#knownRate() ?? ceiling, proved, ceiling)
    const all = [...this.#underway, { left: size, since: null }]
    const spare = lifetimeMs * (1 - SHARED)
    return all.every(upload => msBeside(upload, all, rate) <= this.#leftMs(upload, now) - spare)
  }

  #mayGoOn(upload: Underway): boolean {
    const rate = this.#knownRate()
    if (rate === null || upload.unsent <= 0) return true
    const now = this.#options.clock.now()
    const sending = [...this.#underway].filter(({ since }) => since !== null)
    const areInTime = (all: Underway[]) =>
      all.every(each => msBeside(each, all, rate) <= this.#leftMs(each, now))
    return areInTime([upload]) && (upload !== sending.at(-1) || areInTime(sending))
  }

  #leftMs({ since }: Pick<Underway, 'since'>, now: number): number {
    return this.#options.lifetimeMs - (since === null ? 0 : now - since)
  }

  /** A credential that was granted and never used takes no room any more once it has expired. */
  #forgetExpired(): void {
    const now = this.#options.clock.now()
    for (const upload of this.#underway) if (this.#leftMs(upload, now) <= 0) this.#underway.delete(upload)
  }
}

/**
 * How long an upload takes when all uploads share the line equally. By the time at which it ends, each other upload has
 * sent as many bytes as this one, or all that it had.
 */
function msBeside(upload: { left: number }, all: readonly { left: number }[], rate: number): number {
  const bytes = all.reduce((sum, { left }) => sum + Math.min(left, upload.left), 0)
  return (bytes * 1000) / rate
}

/**
 * What a connection with full buffers took from the end of one long wait to the end of the next. The system frees its
 * buffers in lumps: after a long wait it takes much at once, and only the wait and the bytes together show the rate.
 */
interface Lump {
  bytes: number
  from: number
  until: number
}
