import { IN_MEMORY } from '../../local/picture-file.ts'
import type { FileRow } from '../../synced/tables/files.ts'

/** The place of one upload among those on the way to the host. */
export interface Lane {
  /** Waits until this upload may be on the way to the host. False: no further upload may begin. */
  enter(): Promise<boolean>
  /** Lets the next upload begin. */
  leave(): void
}

/**
 * Lets `concurrency` uploads be on the way to the host at a time, from their credential to their answer. Meanwhile the next
 * pictures are read ahead, and those that have arrived are recorded.
 */
export class Lanes {
  /** How many pictures are worked on at a time. With a concurrency of 1, uploads go strictly one after the other. */
  readonly workers: number
  readonly #onTheWay: Gate
  readonly #large: Gate

  constructor(concurrency: number) {
    this.workers = concurrency * 2 - 1
    this.#onTheWay = new Gate(concurrency)
    this.#large = new Gate(concurrency)
  }

  /** Runs the work for a picture of this size. `mayBegin`: asked when a lane is free, as other uploads may have ended all. */
  async run(size: number, mayBegin: () => boolean, work: (lane: Lane) => Promise<void>): Promise<void> {
    // A picture that is too large for memory is read twice, so no more of them are read ahead than are sent.
    const read = size > IN_MEMORY ? await this.#large.enter() : null
    let leave: (() => void) | null = null
    const lane: Lane = {
      enter: async () => {
        leave = await this.#onTheWay.enter()
        return mayBegin()
      },
      leave: () => leave?.(),
    }
    try {
      await work(lane)
    } finally {
      lane.leave()
      read?.()
    }
  }
}

/** Lets so many in at a time. The others wait, and come in as they came. */
class Gate {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(free: number) {
    this.#free = free
  }

  /** Answers how to leave again. Only the first call of this function counts. */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}

/** Takes the next of the files and uploads it. False: there is no further file, or nothing more may be sent. */
type Next = (files: Generator<FileRow>) => Promise<boolean>

/**
 * Works through files, several at a time. A large picture may keep a worker for minutes. So what becomes stale meanwhile is
 * scanned beside the uploads. During such a scan no further upload begins, because the scan may find a folder in doubt.
 * After the scan the workers begin with all files anew, because the scan may have found new ones.
 */
export class Workers {
  readonly #count: number
  /** The scan beside the uploads, or null. */
  #scan: Promise<void> | null = null
  #beginAnew = () => {}

  constructor(count: number) {
    this.#count = count
  }

  /** `files`: answers all files anew. */
  async run(files: () => Generator<FileRow>, next: Next): Promise<void> {
    let from = files()
    const working = new Set<Promise<void>>()
    const work = async () => {
      do await this.#scan
      while (await next(from))
    }
    const fill = () => {
      while (working.size < this.#count) {
        const worker = work().finally(() => working.delete(worker))
        working.add(worker)
      }
    }
    this.#beginAnew = () => {
      from = files()
      fill()
    }
    fill()
    while (working.size > 0 || this.#scan) await Promise.race(this.#scan ? [...working, this.#scan] : working)
    this.#beginAnew = () => {}
  }

  /** Works through files one after the other. */
  async runAlone(files: Generator<FileRow>, next: Next): Promise<void> {
    do await this.#scan
    while (await next(files))
  }

  /** Notes that a scan goes on. Answers when it has ended, also when it has failed. Then the run fails too. */
  async scanBeside(scan: Promise<void>): Promise<void> {
    this.#scan = scan.then(() => {
      this.#scan = null
      this.#beginAnew()
    })
    await this.#scan.catch(() => {})
  }

  /** Waits until no scan goes on. */
  async scanEnded(): Promise<void> {
    await this.#scan
  }
}

/** Runs uploads of one kind one after the other, so that the first of them finds out what the others need to know. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs `work` once all earlier work of this kind has ended. */
  alone<T>(kind: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(kind) ?? Promise.resolve()).then(work)
    this.#last.set(kind, Promise.allSettled([result]))
    return result
  }
}
