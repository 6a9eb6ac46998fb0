import { IN_MEMORY } from '../../local/picture-buffers.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { UnderWay } from '../under-way.ts'

/** The place of an upload among those on the way to the host. */
export interface Lane {
  /** Waits until this upload may be on the way to the host. False: no further upload may begin. */
  enter(): Promise<boolean>
  /** Lets the next upload begin. */
  leave(): void
  /** Leaves, because this upload has no room or takes too long beside the others. From now on fewer uploads go together. */
  giveWay(): void
}

/** Uploads the next of the files. False: there is none, or nothing more may be sent. */
type Next = (files: Generator<FileRow>) => Promise<boolean>

/** Decides which pictures are worked on at a time. `concurrency` uploads are on the way, from credential to answer. Meanwhile the
 * next pictures are read, and those that have arrived are recorded. A large picture may take minutes, so what becomes stale is
 * scanned meanwhile. During such a scan no upload begins, because a folder may be in doubt. */
export class Lanes {
  readonly #workers: number
  readonly #underWay: UnderWay
  readonly #onTheWay: Slots
  readonly #large: Slots
  readonly #ofOne = new Slots(1)
  #beginAnew = () => {}

  constructor(concurrency: number, underWay: UnderWay) {
    this.#workers = concurrency * 2 - 1
    this.#underWay = underWay
    this.#onTheWay = new Slots(concurrency)
    this.#large = new Slots(concurrency)
  }

  /** Works through files, `most` at a time. `files`: returns all files each time it is called. */
  async run(files: () => Generator<FileRow>, next: Next, most = this.#workers): Promise<void> {
    const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>()
    let from: Generator<FileRow> | null
    let working = 0
    const work = async () => {
      do {
        while (this.#underWay.scan) await this.#underWay.scan
        from ??= files()
      } while (await next(from))
      if (--working > 0) return
      this.#beginAnew = () => {}
      end()
    }
    this.#beginAnew = () => {
      from = null
      for (; working < most; working++) work().catch(fail)
    }
    this.#beginAnew()
    await ended
  }

  /** Scans beside the uploads. Then goes through all files again, because the scan may have found new ones. Resolves when the
   * scan has ended, even with a failure. After a failure the run fails too. */
  async scanBeside(scan: Promise<void>): Promise<void> {
    const ended = this.#underWay.beside(scan)
    this.#beginAnew()
    await ended
  }

  /** Works on a picture of this size. `mayBegin`: asked when a lane is free, because other uploads may have ended the run. */
  async take(size: number, mayBegin: () => boolean, work: (lane: Lane) => Promise<void>): Promise<void> {
    // A picture that is too large for memory is read twice. So no more of these are read than are sent.
    const read = size > IN_MEMORY ? await this.#large.enter() : null
    let leave: (() => void) | null = null
    const lane: Lane = {
      enter: async () => {
        leave = await this.#onTheWay.enter()
        while (this.#underWay.scan) await this.#underWay.scan
        return mayBegin()
      },
      leave: () => leave?.(),
      giveWay: () => {
        this.#onTheWay.narrow()
        lane.leave()
      },
    }
    try {
      await work(lane)
    } finally {
      lane.leave()
      read?.()
    }
  }

  /** Runs uploads one after the other, so that the first one finds out what the others need to know. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.#ofOne.enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }
}

/** After so many have left, one more is let in at a time, up to the first number. */
const CALM = 10

/** Lets a number of callers in at a time. The others wait, and come in by their order. */
class Slots {
  readonly #most: number
  #places: number
  #inside = 0
  #left = 0
  readonly #waiting: (() => void)[] = []

  constructor(places: number) {
    this.#most = places
    this.#places = places
  }

  /** Waits for a place. Returns the function that leaves. Only its first call counts. */
  async enter(): Promise<() => void> {
    if (this.#inside < this.#places) this.#inside++
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      this.#inside--
      if (++this.#left % CALM === 0) this.#places = Math.min(this.#places + 1, this.#most)
      while (this.#inside < this.#places && this.#waiting.length > 0) {
        this.#inside++
        this.#waiting.shift()!()
      }
    }
  }

  /** Lets in one fewer than are inside now. */
  narrow(): void {
    this.#places = Math.max(1, this.#inside - 1)
    this.#left = 0
  }
}
