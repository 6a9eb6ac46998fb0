const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** §2: bytes as people read them, in decimal units: 349915 is "349.9 KB". */
export function humanSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let value = bytes
  let unit = 0
  // 999.95 and more would be printed as 1000.0.
  while (value >= 999.95 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${value.toFixed(1)} ${UNITS[unit]}`
}
