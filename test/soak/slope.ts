/** Samples of one thing over time. `at`: milliseconds. */
export type Series = readonly { at: number; value: number }[]

/** The linear slope (least squares) per hour. */
export function slopePerHour(series: Series): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const at = mean(series.map(sample => sample.at))
  const value = mean(series.map(sample => sample.value))
  let covariance = 0
  let variance = 0
  for (const sample of series) {
    covariance += (sample.at - at) * (sample.value - value)
    variance += (sample.at - at) ** 2
  }
  return variance === 0 ? 0 : (covariance / variance) * 3_600_000
}

/** One line for people: first, last, largest, and the slope after the warm-up. `unit` divides what is shown. */
export function inWords(name: string, series: Series, warmUpMs: number, unit = 1): string {
  const shown = (value: number) => (value / unit).toFixed(unit === 1 ? 0 : 2)
  const from = series[0]?.at ?? 0
  const warm = series.filter(({ at }) => at - from >= warmUpMs)
  const used = warm.length > 2 ? warm : series
  const values = used.map(({ value }) => value)
  const slope = slopePerHour(used)
  return [
    name.padEnd(22),
    `from ${shown(values[0] ?? 0)}`,
    `to ${shown(values.at(-1) ?? 0)}`,
    `at most ${shown(Math.max(...values))}`,
    `${slope < 0 ? '' : '+'}${(slope / unit).toFixed(3)} an hour`,
  ].join('  ')
}
