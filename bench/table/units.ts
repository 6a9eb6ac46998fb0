/** Three digits, or as many as stand before the point. */
export function digits(value: number): string {
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (size >= 1000) return Math.round(value).toLocaleString('en-US')
  return Number(value.toPrecision(3)).toString()
}

export function seconds(value: number): string {
  return value < 1 ? `${digits(value * 1000)} ms` : `${digits(value)} s`
}

export function megabytes(value: number): string {
  return `${digits(value)} MB`
}
