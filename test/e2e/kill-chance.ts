/** Chance from a seed (mulberry32): the same seed, the same choices. */
export interface Chance {
  /** A whole number from 0 up to but without `below`. */
  below(below: number): number
  /** One of them; undefined where there are none. */
  of<T>(things: readonly T[]): T | undefined
}

export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
  return { below, of: things => things[below(things.length)] }
}
