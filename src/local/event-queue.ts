import { readFileSync } from 'node:fs'

/** Counts the events of all watches, because the process has one queue of events in the kernel. The kernel drops events while
 * the queue is full, and fs.watch does not report this. */
export class EventQueue {
  readonly #nearOverflow = eventsNearOverflow()
  readonly #listeners = new Set<() => void>()
  #heardThisTurn = 0

  /** Whoever opens a watch calls this at each of its events. */
  readonly heard = (): void => {
    if (this.#heardThisTurn++ === 0) setImmediate(() => this.#endTurn())
  }

  /** Calls `lost` each time when events may have been lost, until what it returns is called. */
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

/** After so many events in one turn of the event loop, further events may have been lost. The number is half the length of the
 * queue. The other half is left for the events of watches that have just ended, because nobody counts these. */
function eventsNearOverflow(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) / 2
  } catch {
    return 8192
  }
}
