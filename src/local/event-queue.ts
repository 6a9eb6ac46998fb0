import { readFileSync } from 'node:fs'

/** Counts the events of all watches. The kernel drops some when its one queue is full, and fs.watch does not report this. */
export class EventQueue {
  readonly #nearOverflow = eventsNearOverflow()
  readonly #listeners = new Set<() => void>()
  #heardThisTurn = 0

  /** Whoever opens a watch calls this at each of its events. */
  readonly heard = (): void => {
    if (this.#heardThisTurn++ === 0) setImmediate(() => this.#endTurn())
  }

  /** Calls `lost` each time when events may have been lost. Returns a function that ends this. */
  onLost(lost: () => void): () => void {
    this.#listeners.add(lost)
    return () => this.#listeners.delete(lost)
  }

  #endTurn(): void {
    const heard = this.#heardThisTurn
    this.#heardThisTurn = 0
    if (heard >= this.#nearOverflow) for (const lost of this.#listeners) lost()
  }
}

/** How many events in one turn mean that others may be lost: half of the queue, because those of ended watches do not count. */
function eventsNearOverflow(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) / 2
  } catch {
    return 8192
  }
}
