import { ByteReader } from '../../src/protocol/byte-reader.ts'
import type { Part, Walk } from '../../src/protocol/picture/part.ts'
import { type Verdict, VerdictFold } from '../../src/protocol/picture/part.ts'
import { bytes } from './bytes.ts'
import { sourceOf } from './sources.ts'

/** The parts that a walker finds in these bytes. */
export async function partsOf(walk: Walk, ...file: Parameters<typeof bytes>): Promise<Part[]> {
  const parts: Part[] = []
  for await (const part of walk(new ByteReader(sourceOf(bytes(...file))))) parts.push(part)
  return parts
}

/** The verdict about these bytes. */
export async function verdictOf(walk: Walk, ...file: Parameters<typeof bytes>): Promise<Verdict> {
  const fold = new VerdictFold()
  for (const part of await partsOf(walk, ...file)) fold.take(part)
  return fold.verdict(bytes(...file).byteLength)
}

/** Lengths to which a file is cut: all near both ends, and some of those between. */
export function lengthsWithin(size: number): number[] {
  const step = Math.max(1, Math.floor(size / 150))
  const lengths = Array.from({ length: size - 1 }, (_, index) => index + 1)
  return lengths.filter(length => length < 150 || length > size - 30 || length % step === 0)
}
