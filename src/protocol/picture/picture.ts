import { FORMATS, type Format } from '../formats.ts'
import { readBmpSize, readHeaderSize, type Size } from './header.ts'
import { readJpegSize } from './jpeg.ts'
import { type BinaryFormat, formatOfBytes } from './signature.ts'
import { findSvgRoot } from './svg.ts'
import { readTiffSize } from './tiff.ts'
import { type ByteSource, Window } from './window.ts'

/**
 * What a picture is by its bytes. Both sides of the wire need this, so it belongs to the protocol: the client declares a type
 * and dimensions (§4.1), and the upload node compares them with the picture (§4.2).
 */
export interface Picture {
  format: Format
  /** The MIME type that `format` has in §4.3. */
  mime: string
  /** Pixels as stored, without EXIF's orientation. Both are null when they can't be read or are not stated. */
  width: number | null
  height: number | null
}

/** Bytes of the first read, which is enough for nearly every picture. */
const HEAD = 64 * 1024

/** Bytes of the longest read. An SVG's root element may come after so many bytes of comments and declarations. */
const LONG_HEAD = 512 * 1024

/**
 * The picture that the source holds, or null when its bytes are none of §4.3's formats. No content makes it throw. It rejects
 * with what `source.read` rejects with. Memory does not grow with the picture's size.
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

/**
 * Which reader finds the dimensions of a format, measured on real and crafted pictures:
 *
 * | format | reader | because |
 * |---|---|---|
 * | png, gif, webp, ico, svg | image-size | it reads them right from the first bytes |
 * | jpeg | jpeg.ts | image-size misses frames behind 512 KiB of metadata, and knows only SOF0 to SOF2 |
 * | tiff | tiff.ts | image-size needs the directory in the first bytes, and most large files have it at their end |
 * | bmp | header.ts | image-size does not read the header of OS/2 |
 */
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
