/** So long shorter inputs are tried. */
const TRIED_MS = 60_000

/** A shorter input that still fails, as found in a minute: pieces are left out, then bytes become blanks or zeros. */
export async function shrunk(input: Buffer, fails: (input: Buffer) => Promise<boolean>): Promise<Buffer> {
  if (!(await fails(input))) return input
  const end = performance.now() + TRIED_MS
  let best = input
  const isOver = () => performance.now() > end
  const take = async (candidate: Buffer) => {
    if (isOver() || candidate.equals(best) || !(await fails(candidate))) return false
    best = candidate
    return true
  }
  for (let length = best.length >> 1; length >= 1; length >>= 1)
    for (let at = 0; at < best.length && !isOver(); )
      if (!(await take(Buffer.concat([best.subarray(0, at), best.subarray(at + length)])))) at += length
  for (let at = 0; at < best.length && !isOver(); at++)
    for (const plain of [0x20, 0]) {
      const candidate = Buffer.from(best)
      candidate[at] = plain
      if (await take(candidate)) break
    }
  return best
}
