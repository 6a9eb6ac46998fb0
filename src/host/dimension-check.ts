import { DECIDED_CODES } from '../protocol/decisions.ts'
import { exemptFromDimensions } from '../protocol/formats.ts'
import { DIMENSION_TOLERANCE } from '../protocol/limits.ts'
import type { Picture } from '../protocol/picture/picture.ts'
import type { CredentialRow } from './data/credentials.ts'
import { Refusal } from './refusal.ts'

/**
 * §4.2: the upload node's three checks, by what step 1 declared. `picture` is what the bytes are; null where they are
 * none of §4.3's formats. Refuses what does not pass.
 */
export function checkDimensions(
  picture: Picture | null,
  { compares, width, height }: Pick<CredentialRow, 'compares' | 'width' | 'height'>,
): void {
  if (!compares) return
  if (picture === null)
    throw new Refusal('UNREADABLE_DIMENSION', 'The file is no picture of a supported format.')
  if (width === null || height === null) refuseUnlessExempt(picture)
  else compare(picture, width, height)
}

function refuseUnlessExempt(picture: Picture): void {
  if (!exemptFromDimensions(picture.mime))
    throw new Refusal(
      DECIDED_CODES.exemptButOther,
      'No dimensions were declared, which only SVG and TIFF may lack.',
    )
}

function compare(picture: Picture, width: number, height: number): void {
  if (picture.width === null || picture.height === null)
    throw new Refusal('UNREADABLE_DIMENSION', 'The dimensions of the file cannot be read.')
  if (differs(picture.width, width) || differs(picture.height, height))
    throw new Refusal(
      'DIMENSION_MISMATCH',
      `The file has ${picture.width} × ${picture.height} pixels, not ${width} × ${height}.`,
    )
}

function differs(actual: number, declared: number): boolean {
  return Math.abs(actual - declared) > DIMENSION_TOLERANCE
}
