/** The known name that a person most likely meant, or null. For mistyped config keys, commands and options. */
export function likelyKey(written: string, known: readonly string[]): string | null {
  let likely: string | null = null
  let least = Number.POSITIVE_INFINITY
  for (const key of known) {
    // The beginning of a key counts as near. An example: `api_key` for `api_key_file`.
    const begun = written.length > 2 && key.startsWith(written)
    const distance = begun ? 1 : editDistance(written, key)
    // A third of the key's letters may be wrong. In a key of 4 or 5 letters 2 may be, because two letters that changed places
    // are a distance of 2. In a shorter key half of the letters must be right, else every short word would be likely.
    const most = Math.max(key.length / 3, Math.min(key.length / 2, 2))
    if (distance > most || distance >= least) continue
    likely = key
    least = distance
  }
  return likely
}

/** Levenshtein's distance: how many characters must be inserted, removed or replaced. */
function editDistance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const replaced = above[column - 1]! + (one[row - 1] === other[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, above[column]! + 1, current[column - 1]! + 1))
    }
    above = current
  }
  return above[other.length]!
}
