import type { Ending } from '../../src/protocol/picture/ending.ts'
import { readEnding, readPicture } from '../../src/protocol/picture/picture.ts'
import { bytes } from './bytes.ts'
import { sourceOf } from './sources.ts'

/** How a file of these bytes ends. */
export async function endingOf(...parts: Parameters<typeof bytes>): Promise<Ending> {
  const file = bytes(...parts)
  return readEnding((await readPicture(sourceOf(file)))?.format ?? null, sourceOf(file))
}

/** Lengths to which a file is cut: all near both ends, and some of those between. */
export function lengthsWithin(size: number): number[] {
  const step = Math.max(1, Math.floor(size / 150))
  const lengths = Array.from({ length: size - 1 }, (_, index) => index + 1)
  return lengths.filter(length => length < 150 || length > size - 30 || length % step === 0)
}
