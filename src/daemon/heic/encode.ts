import { ICC } from '../../protocol/picture/jpeg/announced.ts'
import { APP1, APP2, segment } from '../../protocol/picture/stripped/containers.ts'
import { EXIF } from '../../protocol/picture/tiff-directories.ts'
import type { Decoded } from './decode.ts'
import { HeicProblem } from './problem.ts'

/** Bytes of a profile that fit into one segment, with its name and two numbers. */
const CHUNK = 65_533 - ICC.length - 2
const START_MARK = 2

/** A JPEG of these pixels with their profile, and with this TIFF as its EXIF; and who made it. */
export async function encodeJpeg(picture: Decoded, exif: Buffer | null): Promise<[Buffer, string]> {
  const { pixels, width, height, channels, icc } = picture
  const { default: sharp } = await import('sharp').catch(error => {
    throw new HeicProblem('no_library', (error as Error).message)
  })
  sharp.cache(false)
  sharp.concurrency(1)
  // White is what stands behind a picture on most pages.
  const opaque = sharp(pixels, { raw: { width, height, channels } }).flatten({ background: '#fff' })
  const jpeg = await opaque.jpeg({ quality: 92, chromaSubsampling: '4:4:4' }).toBuffer()
  const segments = exif ? [segment(APP1, Buffer.from(EXIF, 'latin1'), exif)] : []
  const count = Math.ceil((icc?.byteLength ?? 0) / CHUNK)
  for (let nth = 1; nth <= count; nth++) {
    const chunk = icc!.subarray((nth - 1) * CHUNK, nth * CHUNK)
    segments.push(segment(APP2, Buffer.from(ICC, 'latin1'), Buffer.of(nth, count), chunk))
  }
  const whole = [jpeg.subarray(0, START_MARK), ...segments, jpeg.subarray(START_MARK)]
  return [Buffer.concat(whole), `libvips ${sharp.versions.vips}`]
}
