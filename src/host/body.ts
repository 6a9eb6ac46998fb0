import { type Reason, Refusal } from './refusal.ts'

export type Body = Readonly<Record<string, unknown>>

export function asBody(value: unknown): Body {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refusal('badBody', 'The body must be a JSON object.')
  return value as Body
}

/** Whether a value counts as missing, as null and "" do (§4.1). */
export function isMissing(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === ''
}

export function requiredString(body: Body, field: string, missing: Reason): string {
  const value = optionalString(body, field)
  if (value === null) throw new Refusal(missing, `${field} is required.`)
  return value
}

/** A name of 1 to `max` characters (code points, §8). `codes`: the reasons with which any other value is refused. */
export function requiredName(
  body: Body,
  field: string,
  max: number,
  codes: { missing: Reason; tooLong: Reason },
): string {
  const name = requiredString(body, field, codes.missing)
  if ([...name].length > max)
    throw new Refusal(codes.tooLong, `${field} must have at most ${max} characters.`)
  return name
}

export function optionalString(body: Body, field: string): string | null {
  const value = body[field]
  if (isMissing(value)) return null
  if (typeof value !== 'string') throw new Refusal('wrongType', `${field} must be a string.`)
  return value
}

export function positiveInteger(body: Body, field: string, missing: Reason, invalid: Reason): number {
  const value = body[field]
  if (isMissing(value)) throw new Refusal(missing, `${field} is required.`)
  if (!Number.isSafeInteger(value) || (value as number) < 1)
    throw new Refusal(invalid, `${field} must be a positive integer.`)
  return value as number
}

export function flag(body: Body, field: string): boolean {
  const value = body[field]
  if (isMissing(value)) return false
  if (typeof value !== 'boolean') throw new Refusal('wrongType', `${field} must be true or false.`)
  return value
}
