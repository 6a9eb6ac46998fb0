import { be16, be32, bytes } from './bytes.ts'

/** Pictures of 64 × 64 pixels, as heif-enc 1.15 with x265 3.5 has coded them: red, blue, and dark green to the left of straw. */
const hex = (text: string) => Buffer.from(text, 'hex')
export const RED = hex('0000001a2801af09e02139755ffffbd29ffffc37ef21fabfba741cc3d7e0')
export const BLUE = hex('0000001a2801af09e02139755ffffcffdfbdfe4189fffcd272741cc3d7e0')
export const HALVES = hex(
  '000000292801af09e02139755ffffdd72ffffdf047fff38f259e79fd904547fce4437fcd928f55fd3fff31eff0',
)
/** What their decoder must know. */
const CODING = hex(
  '0103700000000000000000001ef000fcfdf8f800000f03200001001840010c01ffff03700000030090000003000003001eba0240210001002b42010103700000030090000003000003001ea020810596ea49089ae6e04040c0800000030080000003008422000100074401c176b02240',
)

export function box(type: string, ...content: (string | number | Uint8Array)[]): Buffer {
  const body = bytes(...content)
  return bytes(be32(8 + body.byteLength), type, body)
}
const fullBox = (type: string, version: number, ...content: (string | number | Uint8Array)[]) =>
  box(type, version, 0, 0, 0, ...content)

export const size = (width: number, height: number) => fullBox('ispe', 0, be32(width), be32(height))
/** `quarters`: how far the picture is turned to the left. */
export const turned = (quarters: number) => box('irot', quarters)
export const icc = (profile: Uint8Array) => box('colr', 'prof', profile)
export const nclx = (primaries: number, transfer: number) =>
  box('colr', 'nclx', be16(primaries), be16(transfer), be16(6), 0x80)
export const alphaOf = fullBox('auxC', 0, 'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0')

/** An item of a HEIC. Its number is its place, from 1 on. */
export interface Item {
  type: string
  data: Buffer
  properties?: Buffer[]
  /** What it is to other items. */
  to?: { as: string; items: number[] }
}

export const coded = (data: Buffer, ...properties: Buffer[]): Item => ({
  type: 'hvc1',
  data,
  properties: [box('hvcC', CODING), size(64, 64), ...properties],
})
export const exif = (tiff: Buffer, ...items: number[]): Item => ({
  type: 'Exif',
  data: bytes(be32(6), 'Exif\0\0', tiff),
  to: { as: 'cdsc', items },
})
/** Tiles of 64 × 64 pixels beside each other, of which so many pixels are shown. */
export const grid = (width: number, height: number, items: number[], ...properties: Buffer[]): Item => ({
  type: 'grid',
  data: bytes(0, 0, 0, items.length - 1, be16(width), be16(height)),
  properties: [size(width, height), ...properties],
  to: { as: 'dimg', items },
})

/** A file with these items. */
export function heic(items: readonly Item[], { primary = 1, brand = 'heic' } = {}): Buffer {
  const start = box('ftyp', brand, be32(0), 'mif1', brand)
  const properties = items.flatMap(item => item.properties ?? [])
  let nth = 0
  const owned = items.flatMap(({ properties: own = [] }, at) =>
    own.length === 0 ? [] : [bytes(be16(at + 1), own.length, ...own.map(() => 0x80 | ++nth))],
  )
  const meta = (offset: number) => {
    let at = offset
    const places = items.map(({ data }, place) => {
      at += data.byteLength
      return bytes(
        be16(place + 1),
        be16(0),
        be16(0),
        be16(1),
        be32(at - data.byteLength),
        be32(data.byteLength),
      )
    })
    const names = items.map(({ type }, place) => fullBox('infe', 2, be16(place + 1), be16(0), type, 0))
    const references = items.flatMap(({ to }, place) =>
      to ? [box(to.as, be16(place + 1), be16(to.items.length), ...to.items.map(be16))] : [],
    )
    return fullBox(
      'meta',
      0,
      fullBox('hdlr', 0, be32(0), 'pict', Buffer.alloc(13)),
      fullBox('pitm', 0, be16(primary)),
      fullBox('iloc', 1, 0x44, 0, be16(items.length), ...places),
      fullBox('iinf', 0, be16(items.length), ...names),
      ...(references.length > 0 ? [fullBox('iref', 0, ...references)] : []),
      box('iprp', box('ipco', ...properties), fullBox('ipma', 0, be32(owned.length), ...owned)),
    )
  }
  const offset = start.byteLength + meta(0).byteLength + 8
  return bytes(start, meta(offset), box('mdat', ...items.map(({ data }) => data)))
}
