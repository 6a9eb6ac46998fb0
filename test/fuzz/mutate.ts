import type { Random } from '../sim/histories/random.ts'

/** Numbers at which lengths, counts and offsets go wrong. */
const NUMBERS = [0, 1, 2, 4, 8, 15, 16, 127, 128, 255, 256, 4095, 4096, 32_767, 32_768, 65_535, 65_536]
const LARGE_NUMBERS = [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32 - 4, 2 ** 24]

const MOST_CHANGES = 6
/** One input in so many is blown up: a part of it is repeated until it is as long as an input may be. */
const BLOWN_UP = 400

export interface MutationOptions {
  /** What stands in such inputs, and is put in. */
  words: readonly string[]
  /** Whether an input is text, so that its words are changed rather than its bytes. */
  isText: boolean
  /** The most bytes of an input. */
  most: number
}

/** A changed copy of `input`. `other`: another input, of which pieces are taken. */
export function mutated(
  input: Buffer,
  other: Buffer,
  random: Random,
  { words, isText, most }: MutationOptions,
): Buffer {
  let changed = input
  const changes = 1 + random.below(random.below(MOST_CHANGES) + 1)
  for (let n = 0; n < changes; n++)
    changed =
      isText && random.chance(0.8)
        ? withWordChanged(changed, other, random, words)
        : withBytesChanged(changed, other, random, words)
  if (random.below(BLOWN_UP) === 0) changed = blownUp(changed, random, most)
  return changed.subarray(0, most)
}

function withBytesChanged(input: Buffer, other: Buffer, random: Random, words: readonly string[]): Buffer {
  const at = random.below(input.length + 1)
  const length = random.below(Math.min(input.length - at, 1 + random.below(64)) + 1)
  const put = (piece: Uint8Array, instead = 0) =>
    Buffer.concat([input.subarray(0, at), piece, input.subarray(at + instead)])
  switch (random.below(10)) {
    case 0:
      return put(Buffer.of(random.next() & 0xff), 1)
    case 1: {
      const flipped = Buffer.from(input)
      if (at < input.length) flipped[at]! ^= 1 << random.below(8)
      return flipped
    }
    case 2:
    case 3: {
      const number = numberBytes(random)
      return put(number, number.length)
    }
    case 4:
      return put(
        Buffer.from(Array.from({ length }, () => random.next() & 0xff)),
        random.chance(0.5) ? length : 0,
      )
    case 5:
      return put(Buffer.alloc(0), length)
    case 6:
      // The same piece again, somewhere else.
      return put(pieceOf(input, random), random.chance(0.5) ? length : 0)
    case 7:
      return put(pieceOf(other, random), random.chance(0.5) ? length : 0)
    case 8:
      return input.subarray(0, at)
    default: {
      const word = Buffer.from(random.pick(words), 'latin1')
      return put(word, random.chance(0.5) ? word.length : 0)
    }
  }
}

function numberBytes(random: Random): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(random.chance(0.7) ? random.pick(NUMBERS) : random.pick(LARGE_NUMBERS))
  const short = bytes.subarray(0, random.pick([1, 2, 4]))
  return random.chance(0.5) ? short.reverse() : short
}

function pieceOf(bytes: Buffer, random: Random): Buffer {
  const from = random.below(bytes.length + 1)
  return bytes.subarray(from, from + random.below(1 + random.below(512)))
}

/** Words, blanks, line ends and single signs. A long word is several, because V8's stack has no room for a match of any length. */
const TOKEN = /[\p{L}\p{N}_]{1,64}|[^\S\n]{1,64}|\n|[^\p{L}\p{N}_]/gu

function withWordChanged(input: Buffer, other: Buffer, random: Random, words: readonly string[]): Buffer {
  const tokens = input.toString('utf8').match(TOKEN) ?? []
  const at = random.below(tokens.length + 1)
  const some = 1 + random.below(1 + random.below(12))
  const donor = () => {
    const all = other.toString('utf8').match(TOKEN) ?? []
    const from = random.below(all.length + 1)
    return all.slice(from, from + some)
  }
  const from = random.below(tokens.length + 1)
  const [instead, put] = random.pick<() => [number, string[]]>([
    () => [1, [random.pick(words)]],
    () => [0, [random.pick(words)]],
    () => [some, []],
    () => [0, tokens.slice(from, from + some)],
    () => [some, tokens.slice(from, from + some)],
    () => [random.below(2) * some, donor()],
    () => [1, Array.from({ length: 2 + random.below(30) }, () => tokens[at] ?? '')],
  ])()
  tokens.splice(at, instead, ...put)
  return Buffer.from(tokens.join(''), 'utf8')
}

function blownUp(input: Buffer, random: Random, most: number): Buffer {
  const at = random.below(input.length + 1)
  const piece = input.subarray(at, at + 1 + random.below(Math.min(64, 1 + random.below(64))))
  const rest = input.subarray(at + piece.length)
  const times = piece.length === 0 ? 0 : Math.floor((most - input.length) / piece.length)
  const repeated = Buffer.alloc(Math.max(0, times) * piece.length, piece)
  return Buffer.concat([input.subarray(0, at), repeated, rest])
}
