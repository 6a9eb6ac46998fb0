import { asItLies } from '../../../src/local/sent-picture.ts'
import type { Row } from './mutant.ts'

/** What is sent is made of the file. */
// biome-ignore format: a mutant is a row.
export const STRIPPING: readonly Row[] = [
  [3_000_000_000, 'what lies there is sent', 'its metadata become public',
    { 'sync/uploads/upload.ts': { 'Uploader.#bringIn': original => (read, ...rest) => original({ ...read, sent: asItLies(read.open) }, ...rest) } }],
  [3_000_000_001, 'an edit of metadata is an edit', 'the same image is sent anew',
    { 'sync/uploads/upload.ts': { 'Uploader.#isThere': original => (image, ...hashes) =>
      original(image, ...hashes.filter(hash => image.how === null || !hash.equals(image.hash))) } }],
  [3_000_000_016, 'only the size of what would be sent counts', 'after a lost state all is sent anew that was sent with metadata',
    { 'sync/uploads/adoption.ts': { candidatesFor: original => (context, parcel, ...rest) =>
      original(context, { ...parcel, open: { ...parcel.open, look: { ...parcel.open.look, size: parcel.sent.size } } }, ...rest) } }],
  [3_000_000_022, 'what is adopted is what would be sent', 'an image with metadata counts as one without',
    { 'sync/uploads/adoption.ts': { record: original => (context, parcel, listed, known) =>
      original(context, parcel, listed, known, parcel.sent) } }],
  [1_000_000_771, 'any image of the file is used again', 'metadata that are taken out now are public again',
    { 'sync/uploads/upload.ts': { unusedImageOf: original => (run, parcel) =>
      original(run, parcel) ?? original(run, { ...parcel, sent: asItLies(parcel.open) }) } }],
]
