/** Finds zeros in a row in pieces of a file, also where a row goes on in the next piece. */
export class ZeroRuns {
  readonly #needle: Buffer
  /** The offset of the first row of at least `least` zeros. */
  at: number | null = null
  /** So many zeros stand at the end of what was taken. */
  tail = 0
  /** The last byte that is no zero. */
  last = 0

  constructor(least: number) {
    this.#needle = Buffer.alloc(least)
  }

  /** `offset`: that of the piece, which follows the one before. */
  take(piece: Buffer, offset: number): void {
    const least = this.#needle.byteLength
    const first = piece[0] === 0 ? piece.findIndex(byte => byte !== 0) : 0
    const row = this.tail + (first < 0 ? piece.byteLength : first)
    if (this.at === null && row >= least) this.at = offset - this.tail
    if (first < 0) {
      this.tail = row
      return
    }
    if (this.at === null) {
      const at = piece.indexOf(this.#needle)
      if (at >= 0) this.at = offset + at
    }
    let end = piece.byteLength
    while (end > 0 && piece[end - 1] === 0) end--
    // An empty piece changes nothing.
    if (end === 0) return
    this.tail = piece.byteLength - end
    this.last = piece[end - 1]!
  }
}
