/** The bytes from `start` up to and with `end`. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * What a Range header asks for of `size` bytes: one range, null for all of it, or 'unsatisfiable'. As RFC 9110 allows,
 * several ranges and what is no range at all are answered with the whole.
 */
export function readRange(header: string | undefined, size: number): ByteRange | null | 'unsatisfiable' {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (!match || match[0] === 'bytes=-') return null
  const [first, last] = [match[1]!, match[2]!]
  if (first === '') return suffix(Number(last), size)
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return null
  return start < size ? { start, end } : 'unsatisfiable'
}

/** The last `length` bytes. */
function suffix(length: number, size: number): ByteRange | 'unsatisfiable' {
  return length > 0 ? { start: Math.max(0, size - length), end: size - 1 } : 'unsatisfiable'
}
