/** Few batches bound the memory. Two for each thread keep the threads busy. */
const FOLDERS_PER_BATCH = 32
const BATCHES_IN_FLIGHT = 6

/** A queue of folders to look at, several batches at a time. Folders may be pushed at any time. */
export class ScanQueue {
  readonly #look: (batch: string[]) => Promise<void>
  readonly #paths: string[] = []
  #next = 0

  constructor(look: (batch: string[]) => Promise<void>) {
    this.#look = look
  }

  push(paths: Iterable<string>): void {
    for (const path of paths) this.#paths.push(path)
  }

  /** Works until all folders are looked at. `isEnded`: true when no further batch may begin. */
  async work(isEnded: () => boolean): Promise<void> {
    const underWay = new Set<Promise<void>>()
    for (;;) {
      while (this.#next < this.#paths.length && underWay.size < BATCHES_IN_FLIGHT && !isEnded()) {
        const batch = this.#paths.slice(this.#next, this.#next + FOLDERS_PER_BATCH)
        this.#next += batch.length
        const job = this.#look(batch).finally(() => underWay.delete(job))
        underWay.add(job)
      }
      if (underWay.size === 0) return
      await Promise.race(underWay)
    }
  }
}
