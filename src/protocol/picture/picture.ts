import { FORMATS, type Format } from '../formats.ts'
import { readBmpSize } from './bmp.ts'
import { readHeaderSize } from './header.ts'
import { readJpegSize } from './jpeg.ts'
import { type BinaryFormat, formatOfBytes } from './signature.ts'
import type { Size } from './size.ts'
import type { ByteSource } from './source.ts'
import { findSvgRoot } from './svg.ts'
import { readTiffSize } from './tiff.ts'
import { Window } from './window.ts'

/**
 * What a picture is by its bytes. It belongs to the protocol because both sides of the wire look: the client
 * declares a type and dimensions (§4.1), the upload node compares them with the actual ones (§4.2), and the two
 * must mean the same.
 */
export interface Picture {
  format: Format
  /** The MIME type that `format` has in §4.3. */
  mime: string
  /** Pixels as stored; EXIF's orientation is not applied. Both null where they can't be read or aren't stated. */
  width: number | null
  height: number | null
}

/** The first read, and for nearly every picture the only one. */
const HEAD = 64 * 1024

/** The longest read. An SVG's root element may come after that much of comments and declarations, not more. */
const LONG_HEAD = 512 * 1024

/**
 * The picture that the source holds, or null where its bytes are none of §4.3's formats. Content never throws,
 * however odd; what `source.read` rejects with passes through, and EMFILE where too many files are open. Memory does not
 * grow with the picture's size.
 */
export async function readPicture(source: ByteSource): Promise<Picture | null> {
  const head = await source.read(0, HEAD)
  const format = await formatOfBytes(head)
  return format === null ? readSvg(source, head) : picture(format, await readSize(format, source, head))
}

async function readSvg(source: ByteSource, head: Uint8Array): Promise<Picture | null> {
  let root = findSvgRoot(head)
  if (root === 'cut' && head.byteLength < source.size) root = findSvgRoot(await source.read(0, LONG_HEAD))
  return root === 'cut' || root === null ? null : picture('svg', readHeaderSize('svg', root))
}

function readSize(
  format: BinaryFormat,
  source: ByteSource,
  head: Uint8Array,
): Size | null | Promise<Size | null> {
  switch (format) {
    case 'jpeg':
      return readJpegSize(new Window(source, head))
    case 'tiff':
      return readTiffSize(new Window(source, head))
    case 'bmp':
      return readBmpSize(head)
    default:
      return readHeaderSize(format, head)
  }
}

function picture(format: Format, size: Size | null): Picture {
  return { format, mime: FORMATS[format].mime, width: size?.width ?? null, height: size?.height ?? null }
}
