/** Enough that a million lines are few writes. */
const BATCH = 64 * 1024

/**
 * Writes what comes in pieces, and waits where the reader is slow. Ends early where the reader has gone (`| head`), and
 * answers whether it is there still.
 */
export async function writeOut(out: NodeJS.WritableStream, pieces: Iterable<string>): Promise<boolean> {
  let batch = ''
  for (const piece of pieces) {
    batch += piece
    if (batch.length < BATCH) continue
    if (!(await written(out, batch))) return false
    batch = ''
  }
  return batch === '' || written(out, batch)
}

function written(out: NodeJS.WritableStream, text: string): Promise<boolean> {
  return new Promise(resolve => out.write(text, error => resolve(!error)))
}
