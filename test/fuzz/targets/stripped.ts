import { type ByteSource, sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import { imageData } from '../../../src/protocol/picture/image-data.ts'
import { inspectPicture, type Picture } from '../../../src/protocol/picture/picture.ts'
import type { Strip } from '../../../src/protocol/picture/stripped/rules.ts'
import { stripped } from '../../../src/protocol/picture/stripped/stripped.ts'
import {
  BIG,
  camera,
  fullGif,
  fullJpeg,
  fullPng,
  fullTiff,
  fullWebp,
} from '../../protocol/stripped/samples.ts'
import { pictures } from './pictures.ts'
import { must, type Target } from './target.ts'

/** What is made of a picture without its metadata. */
export const strippedPictures: Target = {
  ...pictures,
  seeds: () => [
    ...pictures.seeds(),
    ...[fullJpeg(), fullPng(), fullGif(), fullWebp(), fullTiff(), fullTiff(BIG)],
    ...[fullJpeg(camera(3, BIG)), fullPng(camera(1)), fullWebp(camera(8, BIG))],
  ],
  async read(input) {
    const source = sourceOfBytes(input)
    const { picture, verdict } = await inspectPicture(source)
    if (picture === null) return
    for (const how of ['location', 'all'] as const)
      await strip(picture, source, how, verdict.kind === 'closed')
  },
}

async function strip(picture: Picture, source: ByteSource, how: Strip, isClosed: boolean): Promise<void> {
  const { format } = picture
  const found = await stripped(format, source, how)
  if (found.kind !== 'made') return
  const made = found.source
  const again = await stripped(format, made, how)
  must(again.kind === 'made' && again.hash.equals(found.hash), 'twice is the same as once')
  const { picture: later, verdict } = await inspectPicture(made)
  must(verdict.kind !== 'missing', 'nothing is missing afterwards')
  must(later?.format === format, 'the format stays')
  must(later.width === picture.width && later.height === picture.height, 'dimensions stay')
  const before = await imageData(format, source)
  if (before === null) return
  const after = await imageData(format, made)
  must(after?.sum.equals(before.sum) === true, 'image data stay')
  must(after.facts.trailer === 0, 'nothing lies behind the end')
  // Where the form is broken, decoders may see other metadata than the fold.
  if (!isClosed) return
  must(after.facts.icc === before.facts.icc, 'the profile stays')
  must(after.facts.transform === before.facts.transform, 'how colours are read stays')
  const { orientation } = before.facts
  const isTurn = orientation !== undefined && orientation >= 2 && orientation <= 8
  must(after.facts.orientation === (isTurn ? orientation : undefined), 'how it is turned stays')
}
