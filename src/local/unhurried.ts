import { setImmediate as turn } from 'node:timers/promises'

/** Items for one turn of the loop: with a system call each, a few milliseconds. */
const BATCH = 256

/** Gives one after the other, and the loop a turn now and then. */
export async function* unhurried<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const [at, item] of items.entries()) {
    if (at % BATCH === BATCH - 1) await turn()
    yield item
  }
}
