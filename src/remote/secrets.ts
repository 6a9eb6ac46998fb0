const LONGEST_MESSAGE = 300
/** A shorter part of an upload address is no secret, but a word such as "upload". */
const SHORTEST_CREDENTIAL = 8

/** Makes text from outside fit for a log and a terminal: one short line, without control characters, addresses and secrets. */
export function oneLine(text: string, secrets: Iterable<string>): string {
  let clean = text
  for (const secret of secrets) clean = clean.replaceAll(secret, '***')
  // Any address in a host's text may hold a credential.
  clean = clean.replace(/\bhttps?:\/\/\S+/gi, '(an address)')
  clean = clean.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return clean.length > LONGEST_MESSAGE ? `${clean.slice(0, LONGEST_MESSAGE)}…` : clean
}

/** An address that holds a credential (§4.2, §4.3), and each part of the address that may be the credential. */
export function secretsOfAddress(url: string): string[] {
  const pieces = url.split(/[/?&=]/).filter(piece => piece.length >= SHORTEST_CREDENTIAL)
  return [url, ...pieces.flatMap(piece => [piece, decoded(piece)])]
}

/** A shorter part of an upload address is an id or a word, which the delivery address may contain too. */
const SHORTEST_SECRET = 16

/** Whether an address contains everything that is secret in an upload address. An id in both addresses is no secret when the
 * upload address has another long part. */
export function showsCredential(address: string, uploadUrl: string): boolean {
  if (address.includes(uploadUrl)) return true
  const { pathname, search } = new URL(uploadUrl)
  const pieces = [...pathname.split('/'), ...(search === '' ? [] : new URLSearchParams(search).values())]
  const secret = pieces.filter(piece => piece.length >= SHORTEST_SECRET)
  return secret.length > 0 && secret.every(piece => address.includes(piece))
}

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece)
  } catch {
    return piece
  }
}

/** What no message may contain: the API key, and the credentials that can still be used. */
export class Secrets implements Iterable<string> {
  readonly #apiKey: string
  readonly #uploadUrls = new Set<string>()

  constructor(apiKey: string) {
    this.#apiKey = apiKey
  }

  add(uploadUrl: string): void {
    this.#uploadUrls.add(uploadUrl)
  }

  forget(uploadUrl: string): void {
    this.#uploadUrls.delete(uploadUrl)
  }

  *[Symbol.iterator](): Iterator<string> {
    yield this.#apiKey
    for (const url of this.#uploadUrls) yield* secretsOfAddress(url)
  }
}
