import type { SteadyClock } from '../../protocol/clock.ts'

/** The line's rate in bytes a second, which is assumed as long as uploads end in time: half a megabit. */
const ASSUMED_RATE = 64 * 1024

/**
 * An upload begins only when all uploads together are likely to end within this share of a credential's life (§8). The next
 * four constants are also multiples of a credential's life.
 */
const SHARED = 0.5
/** When an upload would take longer than this even alone on the line, it does not begin. */
const ALONE = 0.8
/** When this much more time of sending was measured, what was measured before weighs about a third. */
const WINDOW = 0.1
/** The measured rate is used only when it was measured over at least this time of sending. */
const SEEN = 0.05
/** After this time a measured rate is forgotten, because the line may have become faster. */
const FRESH = 3

/** A waiting upload checks this often whether it may begin. */
const POLL_MS = 100
/**
 * When a connection needs this long to take a piece, its buffers are full. From then on it takes bytes only as fast as
 * bytes leave the machine. Before, the system takes some megabytes at once, however slow the line is.
 */
const FULL_MS = 20

/** How long an upload would take if it were alone on the line. */
export interface Slowness {
  ms: number
  bytesPerSecond: number
}

export interface LineOptions {
  clock: SteadyClock
  /** How long a credential may be used (§8), in milliseconds. */
  lifetimeMs: number
  /** The setting `uploads.bandwidth`, in bytes a second. Infinity: there is no limit. */
  ceiling: number
}

/** An upload's place on the line. It has the place from before its credential is asked for until the upload ends. */
export interface Passage {
  /** Call this when the credential is granted. The credential's life begins now. */
  granted(): void
  /** What is left of the credential's life, in milliseconds. */
  leftMs(): number
  /**
   * Call this when the connection has taken so many bytes, which were offered to it at `from`. Answers false when the
   * upload has to end. This is so when the upload can't end in time even alone on the line. It is also so when not all
   * uploads can end in time, and this one began last. An upload whose bytes were all taken goes on.
   */
  taken(bytes: number, from: number): boolean
  /** Call this when the whole picture has arrived at the host. */
  arrived(): void
  leave(): void
}

interface Underway {
  /** Bytes that the connection has not taken yet. */
  unsent: number
  /** Bytes of which it is not known that they left the machine: `unsent`, and bytes in the system's buffers. */
  left: number
  /** When the credential was granted; null before. */
  since: number | null
  /** When the first bytes were offered to the connection; null before. */
  began: number | null
  /** What the connection took last, since its buffers are full; null before. */
  lump: Lump | null
  /** Bytes that the line sent for other uploads while this upload waited. They belong to the next lump. */
  sentBeside: number
}

/**
 * The way to the upload nodes, which all uploads share. An upload begins only if it, and all uploads under way, will
 * probably end well within the lives of their credentials. An upload that took longer would have cost quota for nothing,
 * and its next try would fail in the same way.
 *
 * Example: eight pictures of 10 MB wait, on a line of 100 KB/s. All at once they would need 800 seconds, but a credential
 * lives for 600: all eight would fail, over and over. So only as many begin at once as can be sent in half of the 600
 * seconds, which is two or three. A picture of 60 MB needs 600 seconds even alone. It does not begin; its caller gets the
 * time that it would take, and smaller pictures go on.
 *
 * The line's rate is not known when the first upload begins, and it changes. So it is measured in two ways: by uploads that
 * have arrived, which shows what the line can do at least, and by connections with full buffers, which shows how fast the
 * line is now. When the line becomes slower, perhaps not all uploads under way can end in time any more. Then the upload
 * that began last is ended, so that the others end in time.
 */
export class Line {
  readonly #options: LineOptions
  /** The uploads that have begun, in the order in which they began. */
  readonly #underway = new Set<Underway>()
  /**
   * A ticket for each upload that waits, in the order in which they came. They begin in this order, so that none waits for
   * ever.
   */
  readonly #waiting: symbol[] = []
  /**
   * Bytes that connections with full buffers took, the time in which they took these bytes, and when the last was taken.
   * The longer ago bytes were taken, the less they and their time weigh.
   */
  #measured = { bytes: 0, ms: 0, until: Number.NEGATIVE_INFINITY }
  /**
   * The rate that is assumed as long as no faster one is proved. An upload that was cut because its credential expired shows
   * that the line was overrated. Then nothing is assumed, and what was measured and proved is forgotten. So one upload goes
   * at a time until one arrives, and its rate is assumed.
   */
  #assumed = ASSUMED_RATE
  /** The rate of the fastest upload that arrived lately. The line can do at least this rate. */
  #proved = { rate: 0, at: Number.NEGATIVE_INFINITY }

  constructor(options: LineOptions) {
    this.#options = options
  }

  /**
   * Waits until an upload of so many bytes may begin. `slow`: the upload does not begin, because it would take too long
   * even alone. Null: `signal` was aborted.
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

  /** Gives an upload a place on the line without waiting, however full the line is. */
  admit(size: number): Passage {
    const { clock } = this.#options
    const upload: Underway = { unsent: size, left: size, since: null, began: null, lump: null, sentBeside: 0 }
    let hasArrived = false
    this.#underway.add(upload)
    return {
      granted: () => {
        upload.since = clock.monotonic()
      },
      leftMs: () => this.#leftMs(upload, clock.monotonic()),
      taken: (bytes, from) => {
        const now = clock.monotonic()
        upload.began ??= from
        upload.unsent -= bytes
        if (now - from >= FULL_MS) {
          if (upload.lump) this.#measure(upload, upload.lump, now)
          upload.lump = { bytes: upload.sentBeside, from: upload.lump?.until ?? null, until: now }
          upload.sentBeside = 0
        }
        // The buffers are full, so for each byte that the connection takes, another byte has left the machine.
        if (upload.lump) {
          upload.left -= bytes
          upload.lump.bytes += bytes
          upload.lump.until = now
        }
        return this.#mayGoOn(upload)
      },
      arrived: () => {
        hasArrived = true
        // An answer that comes before the whole picture was sent shows nothing of the line.
        if (upload.unsent > 0) return
        const now = clock.monotonic()
        const { began } = upload
        const rate = began !== null && now > began ? (size * 1000) / (now - began) : 0
        this.#assumed = Math.min(Math.max(rate, this.#assumed), ASSUMED_RATE)
        if (rate > 0 && rate >= this.#atLeast(now)) this.#proved = { rate, at: now }
        this.#countBeside(upload, upload.left)
      },
      leave: () => {
        this.#underway.delete(upload)
        // A timer ends the upload when its credential expires. It may be a little early.
        const hasTime = this.#leftMs(upload, clock.monotonic()) > POLL_MS
        if (upload.began === null || hasArrived || hasTime) return
        this.#assumed = 0
        this.#proved.at = Number.NEGATIVE_INFINITY
        this.#measured.until = Number.NEGATIVE_INFINITY
      },
    }
  }

  /** How slow an upload of so many bytes would be, if it is known to outlast its credential even alone; else null. */
  tooSlowFor(size: number): Slowness | null {
    const { lifetimeMs, ceiling } = this.#options
    const bytesPerSecond = this.#knownRateAtMost() ?? ceiling
    const ms = (size * 1000) / bytesPerSecond
    return ms > lifetimeMs * ALONE ? { ms, bytesPerSecond } : null
  }

  /**
   * The measured rate in bytes a second. Null: it was not measured for long enough, or not lately. `uncounted`: bytes that
   * perhaps left the machine as well, in the time that was measured.
   */
  #knownRate(uncounted = 0): number | null {
    const { clock, lifetimeMs, ceiling } = this.#options
    const { bytes, ms, until } = this.#measured
    if (ms < lifetimeMs * SEEN || clock.monotonic() - until > lifetimeMs * FRESH) return null
    const proved = this.#proved.at > until ? this.#proved.rate : 0
    return Math.min(Math.max(((bytes + uncounted) * 1000) / ms, proved), ceiling)
  }

  /**
   * The measured rate if all bytes left the machine that perhaps did. An upload is ended or refused only when it is too slow
   * even at this rate.
   *
   * Example: three connections have taken small pictures whole, 8 MB in all, and the line sends these bytes first. The
   * fourth connection waits 80 seconds for its next piece of 128 KB. The line's rate is 100 KB/s, not 1.6.
   */
  #knownRateAtMost(): number | null {
    let uncounted = 0
    for (const upload of this.#underway) {
      uncounted += (upload.lump?.bytes ?? 0) + upload.sentBeside
      if (!hasFullBuffers(upload)) uncounted += upload.left - upload.unsent
    }
    return this.#knownRate(uncounted)
  }

  /** Bytes a second that the line can do at least; 0 when nothing is known. */
  #atLeast(now: number): number {
    return now - this.#proved.at > this.#options.lifetimeMs * FRESH ? 0 : this.#proved.rate
  }

  #measure(upload: Underway, lump: Lump, now: number): void {
    if (lump.from === null) {
      this.#countBeside(upload, lump.bytes)
      return
    }
    const { lifetimeMs } = this.#options
    const { bytes, ms, until } = this.#measured
    const isOld = now - until > lifetimeMs * FRESH
    // When several uploads sent at the same time, this time is counted once.
    const more = Math.max(0, lump.until - Math.max(lump.from, until))
    const rest = isOld ? 0 : Math.exp(-more / (lifetimeMs * WINDOW))
    this.#measured = {
      bytes: bytes * rest + lump.bytes,
      ms: ms * rest + more,
      until: Math.max(until, lump.until),
    }
  }

  /** Counts bytes of which nobody knows when the line sent them: if another connection waited, the line sent them then. */
  #countBeside(upload: Underway, bytes: number): void {
    const waiting = [...this.#underway].find(other => other !== upload && hasFullBuffers(other))
    if (waiting) waiting.sentBeside += bytes
  }

  #hasRoomFor(size: number): boolean {
    const { clock, lifetimeMs, ceiling } = this.#options
    const now = clock.monotonic()
    // While the system's buffers fill, the line seems faster than it is. So no more is assumed than an upload that arrived
    // has proved.
    const proved = Math.max(this.#assumed, this.#atLeast(now))
    const rate = Math.min(this.#knownRate() ?? ceiling, proved, ceiling)
    const all = [...this.#underway, { left: size, since: null }]
    const spare = lifetimeMs * (1 - SHARED)
    return all.every(upload => msBeside(upload, all, rate) <= this.#leftMs(upload, now) - spare)
  }

  #mayGoOn(upload: Underway): boolean {
    const rate = this.#knownRateAtMost()
    if (rate === null || upload.unsent <= 0) return true
    const now = this.#options.clock.monotonic()
    const sending = [...this.#underway].filter(({ since }) => since !== null)
    const areInTime = (all: Underway[]) =>
      all.every(each => msBeside(each, all, rate) <= this.#leftMs(each, now))
    return areInTime([upload]) && (upload !== sending.at(-1) || areInTime(sending))
  }

  #leftMs({ since }: Pick<Underway, 'since'>, now: number): number {
    return this.#options.lifetimeMs - (since === null ? 0 : now - since)
  }

  /** When a credential was granted and not used, its place becomes free once the credential has expired. */
  #forgetExpired(): void {
    const now = this.#options.clock.monotonic()
    for (const upload of this.#underway)
      if (upload.began === null && this.#leftMs(upload, now) <= 0) this.#underway.delete(upload)
  }
}

/** Whether the connection takes bytes only as fast as bytes leave the machine. */
function hasFullBuffers({ lump, unsent }: Underway): boolean {
  return lump !== null && unsent > 0
}

/**
 * How long an upload takes when all uploads share the line equally. Until this upload ends, each other upload sends as many
 * bytes as this one, or all that it has left.
 */
function msBeside(upload: { left: number }, all: readonly { left: number }[], rate: number): number {
  const bytes = all.reduce((sum, { left }) => sum + Math.min(left, upload.left), 0)
  return (bytes * 1000) / rate
}

/**
 * The bytes that a connection with full buffers took between the ends of two long waits. The system frees its buffers in
 * lumps: after a long wait it takes many bytes at once. Only the wait and these bytes together show the line's rate.
 *
 * A connection's first lump has no beginning (null): until the end of its first long wait, nobody knows which bytes the line
 * has sent.
 */
interface Lump {
  bytes: number
  from: number | null
  until: number
}
