import { crc32 } from 'node:zlib'
import { walkPng } from '../png.ts'
import type { Rules } from './rules.ts'

const SIGNATURE = 8
const CHUNK_HEAD = 8
/** The length of the header, and where it begins: behind the signature, or behind CgBI, with which Apple's own kind begins. */
const HEADER = 25
const BEGINNINGS = [SIGNATURE, SIGNATURE + 16]

/** Pixels, frames, transparency, colours, and the size of a pixel. */
const NEEDED = new Set([
  ...['PLTE', 'IDAT', 'tRNS', 'acTL', 'fcTL', 'fdAT', 'CgBI', 'bKGD', 'pHYs', 'sBIT'],
  ...['iCCP', 'sRGB', 'gAMA', 'cHRM', 'cICP', 'mDCV', 'mDCv', 'cLLI', 'cLLi'],
])

export const pngRules: Rules = {
  walk: walkPng,
  begin: SIGNATURE,
  end: chunk('IEND', Buffer.alloc(0)),
  // Decoders pass over metadata whose check sum is wrong.
  exifAt: async ({ name, from, flaw }) => (name === 'eXIf' && !flaw ? from + CHUNK_HEAD : null),
  exif: tiff => chunk('eXIf', tiff),
  take: async ({ name, from, to }) =>
    name === 'IHDR' ? to - from === HEADER && BEGINNINGS.includes(from) : NEEDED.has(name),
}

function chunk(type: string, data: Buffer): Buffer {
  const whole = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)])
  whole.writeUInt32BE(data.byteLength)
  whole.writeUInt32BE(crc32(whole.subarray(4, -4)), whole.byteLength - 4)
  return whole
}
