const LONGEST = 300

/**
 * Words from outside made fit for a log and a terminal: one line of bounded length, without control
 * characters and without the secrets, which some hosts repeat in their errors.
 */
export function oneLine(text: string, secrets: Iterable<string>): string {
  let clean = text
  for (const secret of secrets) clean = clean.replaceAll(secret, '***')
  // An address in a host's words may be one that holds a credential.
  clean = clean.replace(/\bhttps?:\/\/\S+/gi, '(an address)')
  clean = clean.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean
}

/** Shorter pieces of an address are words such as "upload". */
const SHORTEST_CREDENTIAL = 8

/**
 * Of an address that holds a credential (§4.2, §4.3): itself and all its parts that can be the credential.
 */
export function secretsOfAddress(url: string): string[] {
  const pieces = url.split(/[/?&=]/).filter(piece => piece.length >= SHORTEST_CREDENTIAL)
  return [url, ...pieces.flatMap(piece => [piece, decoded(piece)])]
}

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece)
  } catch {
    return piece
  }
}
