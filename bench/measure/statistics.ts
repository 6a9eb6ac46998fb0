/** Of an even number: the mean of the two in the middle. Throws where there are none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.ceil(sorted.length / 2) - 1]
  if (lower === undefined || upper === undefined) throw new Error('no values')
  return (lower + upper) / 2
}

/** The smallest value that `share` percent of all do not exceed. Throws where there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = Math.max(0, Math.ceil((share / 100) * sorted.length) - 1)
  const value = sorted[at]
  if (value === undefined) throw new Error('no values')
  return value
}

/** The middle of the ratios round by round: what slows a round down slows both sides. */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): number {
  return median(ratiosOf(ours, theirs))
}

/** The least and the greatest of the rounds' ratios. Null: there was one round. */
export function spreadOf(ours: readonly number[], theirs: readonly number[]): [number, number] | null {
  const ratios = ratiosOf(ours, theirs)
  return ratios.length > 1 ? [Math.min(...ratios), Math.max(...ratios)] : null
}

function ratiosOf(ours: readonly number[], theirs: readonly number[]): number[] {
  return ours.map((value, round) => value / theirs[round]!)
}

/** The most of these times in any second, wherever it begins. */
export function mostInASecond(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other)
  let from = 0
  const counts = sorted.map((time, index) => {
    while (time - sorted[from]! >= 1000) from++
    return index - from + 1
  })
  return Math.max(0, ...counts)
}
