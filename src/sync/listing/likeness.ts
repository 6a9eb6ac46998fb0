import { DIMENSION_TOLERANCE } from '../../protocol/limits.ts'
import type { ListedImage } from '../../protocol/records.ts'

/** What a picture of ours is known by in a listing. */
export interface Features {
  name: string
  /** Bytes. */
  size: number
  /** Pixels; null where they are not known. */
  width: number | null
  height: number | null
}

/**
 * Whether a listed image can be this picture. What the listing does not say excludes nothing. `names`: false where the
 * host is known to change names.
 */
export function canBe(listed: ListedImage, picture: Features, names = true): boolean {
  if (names && listed.name !== undefined && listed.name.normalize() !== picture.name.normalize()) return false
  return dimensionsFit(listed, picture) && (listed.size === undefined || sizeFits(listed.size, picture.size))
}

function dimensionsFit(listed: ListedImage, { width, height }: Features): boolean {
  if (listed.width === undefined || listed.height === undefined || width === null || height === null)
    return true
  const near = (a: number, b: number) => Math.abs(a - b) <= DIMENSION_TOLERANCE
  // A host may turn a picture as its metadata says.
  return (
    (near(listed.width, width) && near(listed.height, height)) ||
    (near(listed.width, height) && near(listed.height, width))
  )
}

const PRINTED = /^\s*(\d+(?:[.,]\d+)?)\s*(bytes?|b|[kmgt]i?b?)\s*$/i
const POWERS = 'bkmgt'

/** §2 shows a size for people, such as "1.2 MB"; which units and how it is rounded is not shown. */
export function sizeFits(printed: string, bytes: number): boolean {
  const parts = PRINTED.exec(printed)
  if (!parts) return true
  const number = parts[1]!.replace(',', '.')
  const power = POWERS.indexOf(parts[2]![0]!.toLowerCase())
  const digits = number.split('.')[1]?.length ?? 0
  return [1000, 1024].some(base => {
    const unit = base ** power
    return Math.abs(Number(number) * unit - bytes) <= unit / 10 ** digits
  })
}
