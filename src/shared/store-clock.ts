/** How far the store's clock is ahead of this machine's. Each answer gives two bounds, and several answers give closer ones. When
 * they contradict each other, a clock was set, and the last answer counts. Results are late rather than early, so that no
 * request leaves before its place. */
export class StoreClock {
  #least = Number.NEGATIVE_INFINITY
  #most = Number.POSITIVE_INFINITY

  /** The store's clock showed `store` between `sent` and `received`. */
  learn(sent: number, received: number, store: number): void {
    // One is added, because the store's time is cut off to whole milliseconds.
    const [least, most] = [store - received, store + 1 - sent]
    this.#least = Math.max(this.#least, least)
    this.#most = Math.min(this.#most, most)
    if (this.#least > this.#most) [this.#least, this.#most] = [least, most]
  }

  /** The latest time that the store's clock can show at `here`. */
  toStore(here: number): number {
    return Math.ceil(here + this.#most)
  }

  /** When the store's clock shows `store`, at the latest. */
  toHere(store: number): number {
    return store - this.#least
  }
}
