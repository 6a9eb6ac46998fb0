import type { Sending } from '../daemon/events.ts'

/** A picture that is being uploaded. */
export interface UnderWay {
  mirror: string
  path: string
  /** Bytes. */
  size: number
  sent: number
}

export interface UploadRate {
  bytes: number
  pictures: number
}

/** Over how many seconds the upload rate is averaged. */
const SECONDS = 10

/** The pictures that are being uploaded, and the upload rate. `now`: milliseconds on a clock that only goes forward. */
export class UnderWayPictures {
  readonly #now: () => number
  readonly #pictures = new Map<string, UnderWay>()
  readonly #seconds = new Map<number, UploadRate>()

  constructor(now: () => number) {
    this.#now = now
  }

  hear({ mirror, path, size, sent }: Sending): void {
    const key = `${mirror}\0${path}`
    const known = this.#pictures.get(key)
    if (sent === null) {
      this.#pictures.delete(key)
      this.#count(0, 1)
      return
    }
    this.#count(known === undefined || sent < known.sent ? sent : sent - known.sent, 0)
    this.#pictures.set(key, { mirror, path, size, sent })
  }

  pictures(): UnderWay[] {
    return [...this.#pictures.values()]
  }

  rate(): UploadRate {
    const ended = Math.floor(this.#now() / 1000)
    const last = [...this.#seconds].filter(([second]) => second >= ended - SECONDS)
    const seconds = Math.max(1, ended - Math.min(...last.map(([second]) => second)))
    const mean = (of: keyof UploadRate) => last.reduce((sum, [, rate]) => sum + rate[of], 0) / seconds
    return { bytes: mean('bytes'), pictures: mean('pictures') }
  }

  #count(bytes: number, pictures: number): void {
    const second = Math.floor(this.#now() / 1000)
    const known = this.#seconds.get(second) ?? { bytes: 0, pictures: 0 }
    this.#seconds.set(second, { bytes: known.bytes + bytes, pictures: known.pictures + pictures })
    for (const earlier of this.#seconds.keys()) if (earlier < second - SECONDS) this.#seconds.delete(earlier)
  }
}
