/*
 * Which seed stands for which kind of history. A kind that is added gets seeds of its own, so that all others draw as ever.
 */

/** Fixed seeds are below. Fresh ones are above: most trouble needs little to show, and small histories are many. */
export const FRESH = 100_000

/** From here on a history has a setting of its own, and all that may happen. */
export const LATER = 14_000_000

/** From here on people also audit the host, send again what is in doubt, prune, and empty whole folders. */
export const LATEST = 20_000_000

/** From here on a host also reads the specification in its own way. */
export const READ = 300_000_000

/** From here on an account may get a plan with albums later. */
export const GROWING = 400_000_000

/** From here on most begin as a kept history, people ask for rare things, and a folder's name is too long for an album. */
export const BROAD = 450_000_000

/** From here on a history is of two machines with one account. */
export const MACHINES = 500_000_000

/** From here on histories are of all kinds in turn. Those of numbers that no seed has are kept (`kept-histories.ts`). */
export const WIDE = 600_000_000
const WIDE_END = 1_000_000_000

/** From here on a quiet history asks for moments of its past. */
export const PAST = 1_100_000_000

/** From here on they are broad, and the host differs in what hosts that run in the open differ in. */
export const REAL = 1_500_000_000

/** From here on the host also makes something else of pictures, or refuses a format. */
export const ALTERING = 2_000_000_000
const REAL_SEEDS = ALTERING - REAL

/** From here on pictures have metadata, people edit them, and they are taken out of what is sent. */
export const STRIPPING = 3_000_000_000

/** From here on making takes long, fails and crashes too. Of two such seeds one has a host that makes something else of pictures. */
const MAKING = 3_200_000_000

/** From here on the host makes something else of pictures too, and people edit what stands beside image data. */
export const EDITING = 4_000_000_000

/** From here on the host refuses all for a while, or takes credentials for less time than it promises. */
export const REFUSING = 5_000_000_000

export const KINDS = [FRESH, LATER, LATEST, READ, GROWING, BROAD, MACHINES, REAL, ALTERING]

/** How often each comes. The sum is a prime, because other choices also hang on what is left when a seed is divided. */
const TURNS = [1, 1, 2, 2, 3, 26, 2, 3, 3].flatMap((times, kind) =>
  Array.from({ length: times }, () => KINDS[kind]!),
)

/** The seed of one kind that a seed of all kinds stands for. A kind ends where the next one begins. */
export function seedOfKind(seed: number): number {
  if (seed < WIDE || seed >= WIDE_END) return seed
  const number = seed - WIDE
  const kind = TURNS[number % TURNS.length]!
  const next = [...KINDS, WIDE].filter(begin => begin > kind)
  return kind + (next.length > 0 ? number % (Math.min(...next) - kind) : number)
}

export function isBroad(seed: number): boolean {
  return (seed >= BROAD && seed < MACHINES) || isReal(seed)
}

export function isReal(seed: number): boolean {
  return seed >= REAL
}

export function isOfMachines(seed: number): boolean {
  return seed >= MACHINES && seed < WIDE
}

export function isPast(seed: number): boolean {
  return seed >= PAST && seed < REAL
}

/** Whether the host may answer an upload with success alone. Seeds that are kept are below, and draw as ever. */
export function mayTellLess(seed: number): boolean {
  return isReal(seed) && seed % REAL_SEEDS >= 2_000_000
}

export function isAltering(seed: number): boolean {
  return (seed >= ALTERING && seed < STRIPPING) || (isMaking(seed) && seed % 2 === 1) || isEditing(seed)
}

export function isStripping(seed: number): boolean {
  return seed >= STRIPPING && seed < EDITING
}

export function isEditing(seed: number): boolean {
  return seed >= EDITING && seed < REFUSING
}

export function isRefusing(seed: number): boolean {
  return seed >= REFUSING
}

export function isMaking(seed: number): boolean {
  return seed >= MAKING && seed < EDITING
}
