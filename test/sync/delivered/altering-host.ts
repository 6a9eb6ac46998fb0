import { createHash } from 'node:crypto'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { bytes, exif } from '../../protocol/bytes.ts'
import { drawn, RECODED, segment } from '../../protocol/jpeg/jpegs.ts'
import { listingWith } from '../album-stage.ts'

const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest()

/** A JPEG with metadata, as a camera writes it, and what hosts make of it. Different ones for different seeds. */
export function photo(seed: number) {
  const tables = segment(0xdb, 0, Buffer.alloc(64, 9))
  return {
    sent: drawn({ seed, before: bytes(exif(6), segment(0xfe, `picture ${seed}`.padEnd(3000))) }),
    strip: drawn({ seed }),
    pack: drawn({ seed, tables: RECODED, isRecoded: true }),
    encode: drawn({ seed: seed + 1000, before: tables }),
    turn: drawn({ seed: seed + 2000, width: 120, height: 160 }),
    shrink: drawn({ seed: seed + 3000, width: 80, height: 60 }),
  }
}

type Photo = ReturnType<typeof photo>
/** By their names. */
export type Photos = Readonly<Record<string, Photo>>
export type Kind = Exclude<keyof Photo, 'sent'> | null

/** The sizes that a host lists: of what it was sent, of what it delivers, or none. */
export type Sizes = 'sent' | 'delivered' | 'none'

export function altering(host: ImageHost, kind: Kind, photos: Photos, sizes: Sizes = 'sent'): ImageHost {
  const made = new Map(
    Object.values(photos).map(each => [
      sha256(each.sent).toString('hex'),
      kind === null ? each.sent : each[kind],
    ]),
  )
  const fetchDelivered: ImageHost['fetchDelivered'] = async (cdnUrl, most, signal, take) => {
    const pieces: Uint8Array[] = []
    const given = await host.fetchDelivered(cdnUrl, most, signal, chunk => void pieces.push(chunk))
    if (!given.ok || given.status !== 200) return given
    const whole = Buffer.concat(pieces)
    const delivered = made.get(sha256(whole).toString('hex')) ?? whole
    take?.(delivered)
    return { ok: true, status: 200, size: delivered.byteLength, sha256: sha256(delivered) }
  }
  const list = listingWith(host, page => ({
    ...page,
    images: page.images.map(image => {
      const made = kind !== null && photos[image.name ?? '']?.[kind]
      if (!made || sizes === 'sent') return image
      return { ...image, size: sizes === 'none' ? undefined : `${made.byteLength} bytes` }
    }),
  }))
  return hostWith(host, { fetchDelivered, list })
}
