import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ByteSource } from '../../../src/protocol/byte-reader.ts'
import { imageData } from '../../../src/protocol/picture/image-data.ts'
import { inspectPicture, readPicture } from '../../../src/protocol/picture/picture.ts'
import { png } from '../../pictures.ts'
import { be16, bytes, frame, jpeg, le16, le32 } from '../../protocol/bytes.ts'
import { coded, heic, RED } from '../../protocol/heics.ts'
import { SparseSource } from '../../protocol/sources.ts'
import { must, type Target } from './target.ts'

const SAMPLES = join(import.meta.dirname, '../../../src/cli/try/pictures')
/** A larger sample is no seed: changes to its pixels would teach nothing. */
const SEED_MOST = 9000
/** Each input of so many bytes, or a multiple of them, is read a second time, with room behind it. */
const WITH_ROOM = 16
/** Behind an input may lie so many zeros, as in room that a writer has reserved. */
const RESERVED = 3 * 2 ** 20

/** Type, dimensions, verdict and image data of a picture's bytes. */
export const pictures: Target = {
  isText: false,
  most: 256 * 1024,
  // biome-ignore format: a list.
  words: [
    '\x89PNG\r\n\x1a\n', 'IHDR', 'IDAT', 'fdAT', 'IEND', '\xae\x42\x60\x82', 'GIF89a', '\x21\xfe', '\x2c',
    '\x3b', 'RIFF', 'WEBP', 'VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANMF', 'EXIF', 'BM', '\x28\0\0\0', '\0\0\x01\0',
    'II*\0', 'MM\0*', '\x4a\x01\x04\0', '\x11\x01\x04\0',
    '\x17\x01\x04\0', '\xff\xd8\xff', '\xff\xe1', '\xff\xe2', '\xff\xc0', '\xff\xda', '\xff\xd9', '\xff\xff',
    'Exif\0\0', 'MPF\0', 'MotionPhoto', '<svg', '</svg>', '<svg xmlns:a="b"', '/>', '<!--', '-->', '<![CDATA[',
    ']]>', '<?xml', '?>', '<!DOCTYPE svg [', ']>', '<!ENTITY', ' width="', ' viewBox="0 0 1 1"', '\xef\xbb\xbf',
    '\xff\xfe', '\xfe\xff',
  ],
  seeds() {
    const samples = readdirSync(SAMPLES, { recursive: true, encoding: 'utf8' })
      .map(path => join(SAMPLES, path))
      .filter(path => statSync(path).isFile() && statSync(path).size <= SEED_MOST)
      .map(path => readFileSync(path))
    const small = jpeg(frame(0xc0, 8, 8), bytes(0xff, 0xda, be16(8), 1, 1, 0, 0, 63, 0, 'px'))
    const tag = (id: number, type: number, value: number) => bytes(le16(id), le16(type), le32(1), le32(value))
    // biome-ignore format: bytes.
    const exif = bytes(
      'Exif\0\0II*\0', le32(8), le16(1), tag(274, 3, 6), le32(26), le16(2), tag(513, 4, 56),
      tag(514, 4, small.length), le32(0), small
    )
    return [
      ...samples,
      png(3, 2).bytes,
      heic([coded(RED)]),
      small,
      jpeg(bytes(0xff, 0xe1, be16(exif.length + 2), exif), small.subarray(2)),
      bytes(small, small),
      // biome-ignore format: bytes.
      bytes('GIF89a', le16(4), le16(4), 0x80, 0, 0, 0, 0, 0, 9, 9, 9, 0x2c, Buffer.alloc(8), 0, 2, 1, 5, 0, 0x3b),
      // biome-ignore format: bytes.
      bytes(
        'II*\0', le32(8), le16(5), tag(256, 4, 4), tag(257, 4, 4), tag(273, 4, 74), tag(279, 4, 16),
        tag(330, 4, 8), le32(0), Buffer.alloc(16, 7)
      ),
      // biome-ignore format: bytes.
      bytes(le16(0), le16(1), le16(1), 16, 16, 0, 0, le16(1), le16(32), le32(8), le32(22), Buffer.alloc(8, 3)),
      // biome-ignore format: bytes.
      bytes(
        'BM', le32(70), le32(0), le32(54), le32(40), le32(2), le32(2), le16(1), le16(24), Buffer.alloc(24),
        Buffer.alloc(16, 5)
      ),
      Buffer.from(
        '<?xml version="1.0"?><!-- a --><svg width="4" height="4"><svg/><![CDATA[</svg>]]></svg>\n',
      ),
    ]
  },
  async read(input) {
    await readOf({ size: input.length, read: async (at, length) => input.subarray(at, at + length) })
    // With room behind it that is reserved and not written, the same bytes lead through a larger file.
    if (input.length % WITH_ROOM === 0)
      await readOf(new SparseSource(input.length + RESERVED, [{ at: 0, bytes: input }]))
  },
}

async function readOf(source: ByteSource): Promise<void> {
  const { picture, verdict } = await inspectPicture(source)
  const seen = await readPicture(source)
  must(picture?.format === seen?.format && picture?.width === seen?.width, 'both looks see the same picture')
  if (picture === null) return
  await imageData(picture.format, source)
  const { format, width, height } = picture
  must((width === null) === (height === null), 'a width and a height, or neither')
  for (const pixels of [width, height])
    must(
      pixels === null || (Number.isInteger(pixels) && pixels >= 1 && pixels < 2 ** 31),
      'dimensions are pixels',
    )
  if (verdict.kind !== 'closed' || !verdict.early || format === 'svg') return
  // A picture that albumd sends early, although its writer had one byte left to write.
  const cutShort = { ...source, size: source.size - 1, read: readUpTo(source, source.size - 1) }
  const short = (await inspectPicture(cutShort)).verdict
  must(short.kind !== 'closed' || !short.early, 'a closed picture without its last byte is not closed early')
}

function readUpTo(source: ByteSource, end: number): ByteSource['read'] {
  return (at, length) => source.read(at, Math.max(0, Math.min(length, end - at)))
}
