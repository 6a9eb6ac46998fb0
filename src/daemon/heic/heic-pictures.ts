import { provedChunks } from '../../local/hashed-source.ts'
import { asItLies, CONVERTED, type Converter } from '../../local/sent-picture.ts'
import type { ByteSource } from '../../protocol/byte-reader.ts'
import { FORMATS } from '../../protocol/formats.ts'
import type { Picture } from '../../protocol/picture/picture.ts'
import { because } from '../../words/reasons.ts'
import type { HeicConverter } from './converter.ts'
import { HEIC_PROBLEMS } from './problem.ts'

const JPEG = { format: 'jpeg', mime: FORMATS.jpeg.mime } as const satisfies Partial<Picture>

/** Sends HEICs as JPEGs. `strip`: what of their metadata is taken out; places always are. `changed`: as in `OpenOptions`. */
export function sendingHeics(
  converter: HeicConverter,
  strip: 'none' | 'location' | 'all',
  changed: () => Error,
): Converter {
  const keep = strip === 'all' ? 'all' : 'location'
  return async (open, { root, path }, signal) => {
    const made = await converter.convert({ mirror: root, path, hash: open.hash }, keep, signal)
    if (made.kind === 'impossible') {
      const why = because(`heic_${made.code}`, { detail: made.detail })
      return because(HEIC_PROBLEMS[made.code].again ? 'not_converted_now' : 'not_converted', { why })
    }
    const { file, hash, size, width, height, maker } = made
    // It is sent, and so closed, together with its HEIC.
    const { close } = open
    open.close = () => {
      file.close()
      close()
    }
    const read: ByteSource['read'] = (at, length) =>
      file.fill(Buffer.allocUnsafe(Math.max(0, Math.min(length, size - at))), at)
    const chunks = () => provedChunks(read, { size, hash }, changed)
    const how = `${CONVERTED}.${keep}.${maker}`
    const picture = { ...JPEG, width, height }
    return { hash, size, source: { size, read }, memory: null, chunks, bare: false, picture, how }
  }
}

/** For a dry run, which makes nothing. */
export const asJpegUnmade: Converter = async open => ({
  ...asItLies(open),
  picture: { ...JPEG, width: null, height: null },
})
