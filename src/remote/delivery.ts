import { createHash } from 'node:crypto'
import type { Delivered } from './host.ts'
import { type Address, givenAddress } from './http/address.ts'
import type { Http } from './http/http.ts'

/**
 * Asks a delivery address without any key. More than `maxBytes` are not taken. `base` is the host's own
 * address.
 */
export async function fetchDelivered(
  http: Http,
  base: Address,
  cdnUrl: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Delivered> {
  const address = givenAddress(cdnUrl, base)
  if (!address)
    return { ok: false, code: 'HOST_ADDRESS', message: 'the delivery address is not one of HTTPS' }
  const sum = createHash('sha256')
  let size = 0
  const onChunk = (chunk: Uint8Array) => {
    sum.update(chunk)
    size += chunk.byteLength
  }
  const result = await http.exchange(
    { method: 'GET', address, headers: {}, answerMax: maxBytes, onChunk },
    signal,
  )
  if (result.kind === 'cancelled') return { ok: false, code: 'CANCELLED', message: 'it was cancelled' }
  if (result.kind === 'silence') return { ok: false, code: result.code, message: result.message }
  return { ok: true, status: result.status, size, sha256: sum.digest() }
}
