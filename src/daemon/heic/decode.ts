import { type LibHeif, plain } from './libheif.ts'
import { HeicProblem } from './problem.ts'

/** The primary picture of a HEIC, upright. */
export interface Decoded {
  width: number
  height: number
  /** Bytes of a pixel. */
  channels: 3 | 4
  /** In the library's memory, until it is closed. */
  pixels: Buffer
  /** Null: its colours are those of sRGB. */
  icc: Buffer | null
  /** A TIFF with what its camera noted. */
  exif: Buffer | null
}

/** The side of the largest square that is decoded, in pixels. */
const SIDE = 8000
/** A profile of more bytes would not fit into a JPEG. */
const LARGEST_ICC = 1024 * 1024
/** Numbers of heif.h, and where its `heif_decoding_options` have a flag. */
const [RGB, INTERLEAVED, INTERLEAVED_RGB, INTERLEAVED_RGBA] = [1, 10, 10, 11]
const STRICT_AT = 21
/** Transfer functions: PQ and HLG. Primaries: those of sRGB, nearly those, or not stated (H.273). */
const HDR = [16, 18]
const SRGB = [1, 2, 5, 6]
/** So many zeros in a row are a hole in the file: a coded picture never has three, but for padding behind it. */
const HOLE = Buffer.alloc(64)

/** Throws a `HeicProblem` for what can't be decoded for sure. After any other error the library can't be used any more. */
export function decodeHeic(lib: LibHeif, bytes: Uint8Array): Decoded {
  const context = lib.call('context_alloc')
  lib.later(() => lib.call('context_free', context))
  lib.call('context_set_maximum_image_size_limit', context, SIDE)
  lib.run('context_read_from_memory_without_copy', context, lib.put(bytes), bytes.byteLength, 0)
  lib.run('context_get_primary_image_handle', context, lib.out)
  const handle = lib.word(lib.out)
  lib.later(() => lib.call('image_handle_release', handle))
  const size =
    lib.call('image_handle_get_ispe_width', handle) * lib.call('image_handle_get_ispe_height', handle)
  if (size > SIDE ** 2) throw new HeicProblem('too_large', `${size} pixels`)
  const icc = iccOf(lib, handle)
  checkColours(lib, handle, icc !== null)
  checkItem(lib, context, lib.call('image_handle_get_item_id', handle))
  const exif = exifOf(lib, handle)
  return { ...pixelsOf(lib, handle), icc, exif }
}

function pixelsOf(lib: LibHeif, handle: number): Omit<Decoded, 'icc' | 'exif'> {
  const hasAlpha = lib.call('image_handle_has_alpha_channel', handle) !== 0
  if (hasAlpha && lib.call('image_handle_is_premultiplied_alpha', handle) !== 0)
    throw new HeicProblem('not_understood', 'premultiplied alpha')
  const options = lib.call('decoding_options_alloc')
  lib.later(() => lib.call('decoding_options_free', options))
  lib.bytes(options, STRICT_AT + 1)[STRICT_AT] = 1
  const chroma = hasAlpha ? INTERLEAVED_RGBA : INTERLEAVED_RGB
  lib.run('decode_image', handle, lib.out, RGB, chroma, options)
  const image = lib.word(lib.out)
  lib.later(() => lib.call('image_release', image))
  if (lib.call('image_get_decoding_warnings', image, 0, 0, 0) > 0)
    throw new HeicProblem('not_whole', 'the decoder warns')
  const width = lib.call('image_get_width', image, INTERLEAVED)
  const height = lib.call('image_get_height', image, INTERLEAVED)
  const at = lib.call('image_get_plane_readonly', image, INTERLEAVED, lib.out)
  const stride = lib.word(lib.out)
  const channels = hasAlpha ? 4 : 3
  const row = width * channels
  const pixels = lib.bytes(at, stride * height)
  for (let y = 1; y < height && stride > row; y++) pixels.copyWithin(y * row, y * stride, y * stride + row)
  return { width, height, channels, pixels: pixels.subarray(0, row * height) }
}

function iccOf(lib: LibHeif, handle: number): Buffer | null {
  const size = lib.call('image_handle_get_raw_color_profile_size', handle)
  if (size === 0) return null
  const at = lib.room(size)
  lib.run('image_handle_get_raw_color_profile', handle, at)
  const icc = Buffer.from(lib.bytes(at, size))
  if (size > LARGEST_ICC || icc.toString('latin1', 16, 20) !== 'RGB ')
    throw new HeicProblem('not_understood', 'colour profile')
  return icc
}

/** A JPEG says its colours by a profile alone. */
function checkColours(lib: LibHeif, handle: number, hasProfile: boolean): void {
  if (lib.fault('image_handle_get_nclx_color_profile', handle, lib.out) !== null) return
  const nclx = lib.word(lib.out)
  const [primaries, transfer] = [lib.word(nclx + 4), lib.word(nclx + 8)]
  lib.call('nclx_color_profile_free', nclx)
  if (HDR.includes(transfer)) throw new HeicProblem('hdr', `transfer function ${transfer}`)
  if (!hasProfile && !SRGB.includes(primaries))
    throw new HeicProblem('not_understood', `colour primaries ${primaries}`)
}

/** Whether all that an image is made of is coded by HEVC, and is there. The decoder shows grey where zeros stand. */
function checkItem(lib: LibHeif, context: number, id: number, seen = new Set<number>()): void {
  if (seen.has(id)) return
  seen.add(id)
  const tiles = tilesOf(lib, context, id)
  for (const tile of tiles) checkItem(lib, context, tile, seen)
  if (tiles.length > 0) return
  const type = codeOf(lib.call('item_get_item_type', context, id))
  if (type !== 'hvc1') throw new HeicProblem('not_understood', `coded as ${type}`)
  const [data, size] = [lib.out + 4, lib.out + 8]
  lib.run('item_get_item_data', context, id, lib.out, data, size)
  const isWhole = hasWholeUnits(lib.bytes(lib.word(data), lib.word(size)))
  lib.call('release_item_data', context, data)
  if (!isWhole) throw new HeicProblem('not_whole', `item ${id}`)
}

/** The images from which another one is derived. */
function tilesOf(lib: LibHeif, context: number, id: number): number[] {
  const tiles: number[] = []
  for (let index = 0; ; index++) {
    const count = lib.call('context_get_item_references', context, id, index, lib.out, lib.out + 4)
    if (count === 0) return tiles
    const ids = lib.word(lib.out + 4)
    if (codeOf(lib.word(lib.out)) === 'dimg')
      for (let nth = 0; nth < count; nth++) tiles.push(lib.word(ids + 4 * nth))
    lib.call('release_item_references', context, lib.out + 4)
  }
}

/** Each unit follows its length (ISO 14496-15, 8.3). */
function hasWholeUnits(data: Buffer): boolean {
  let at = 0
  while (at + 4 < data.byteLength) {
    const length = data.readUInt32BE(at)
    const unit = data.subarray(at + 4, at + 4 + length)
    if (length === 0 || unit.includes(HOLE)) return false
    at += 4 + length
  }
  return at > 0 && at === data.byteLength
}

function codeOf(code: number): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(code >>> 0)
  return plain(bytes)
}

/** The item begins with the distance of its TIFF (ISO 23008-12, A.2.1). */
function exifOf(lib: LibHeif, handle: number): Buffer | null {
  const name = lib.put(Buffer.from('Exif\0'))
  if (lib.call('image_handle_get_list_of_metadata_block_IDs', handle, name, lib.out, 1) === 0) return null
  const id = lib.word(lib.out)
  const size = lib.call('image_handle_get_metadata_size', handle, id)
  if (size < 4) return null
  const at = lib.room(size)
  lib.run('image_handle_get_metadata', handle, id, at)
  const bytes = Buffer.from(lib.bytes(at, size))
  return bytes.subarray(4 + bytes.readUInt32BE(0))
}
