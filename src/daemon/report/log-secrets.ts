/** Keys and credentials, which no line of the log may hold. A key that is read again is added to it. */
export type Secrets = ReadonlySet<string>

/** Shorter ones would take ordinary words with them. No real key is as short. */
const SHORTEST = 6

/** A finished line without the secrets, in whatever way they are written. */
export function withoutSecrets(line: string, secrets: Secrets): string {
  let clean = line
  for (const secret of secrets) {
    if (secret.length < SHORTEST) continue
    const asJson = JSON.stringify(secret).slice(1, -1)
    for (const written of new Set([secret, asJson, encodeURIComponent(secret), base64(secret)]))
      clean = clean.replaceAll(written, '***')
  }
  return clean
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64').replace(/=+$/, '')
}

/** Public by its nature: what people open to see a picture. */
const PUBLIC = new Set(['cdn_url'])

/** The fields of an event, their words without addresses. */
export function withoutAddressesIn(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' && !PUBLIC.has(name) ? withoutAddresses(value) : value,
    ]),
  )
}

/** An upload address holds its credential (§4.2), and a heartbeat's its id: of each only the host is shown. */
export function withoutAddresses(text: string): string {
  return text.replace(/\b(https?:\/\/)(?:[^\s/@"']*@)?([^\s/?#"']+)[/?#][^\s"']*/gi, '$1$2/…')
}

/** What is told of an error: no fields of others, which may hold requests with all their headers. */
export function plainError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: withoutAddresses(String(error)) }
  const { name, message, stack = '' } = error
  const { code } = error as NodeJS.ErrnoException
  const cause = error.cause === undefined ? {} : { cause: plainError(error.cause) }
  return {
    type: name,
    ...(typeof code === 'string' && { code }),
    message: withoutAddresses(message),
    stack: withoutAddresses(stack),
    ...cause,
  }
}
