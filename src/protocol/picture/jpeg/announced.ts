import type { ByteReader } from '../../byte-reader.ts'
import type { Part } from '../part.ts'
import { EXIF, exifStates, Tiff } from '../tiff-directories.ts'

/** What follows the first image, as its metadata say: of how many pieces it consists, and between which offsets it lies. */
export interface Announced extends Pick<Part, 'from' | 'to'> {
  count: number
}

const APP1 = 0xe1
const APP2 = 0xe2
/** The first bytes of an APP2 segment with a profile. Behind it, the segment has its number and how many there are. */
export const ICC = 'ICC_PROFILE\0'
/** The first bytes of an APP2 segment with the index of a multi-picture file (CIPA DC-007), which is built like a TIFF. */
const MPF = 'MPF\0'
const MP_ENTRIES = 0xb002
const MP_ENTRY = 16

/** The number in an attribute or an element of XMP (0: there is none), whatever the prefix of its name space. */
function numberOf(name: string, text: string): number {
  return Number(new RegExp(`:${name}(?:\\s*=\\s*["']|>)\\s*(\\d{1,15})(?!\\d)`).exec(text)?.[1] ?? 0)
}

/** What the metadata of a JPEG's first image say of it, and of what follows it. */
export class Announcements {
  #images: { from: number; to: number }[] = []
  /** Lengths of what follows in order, with the padding before the first. */
  #items: number[] = []
  #padding = 0
  /** The length of the film at the file's end. */
  #film = 0

  /** Takes the data of a segment, from this offset on, and returns what they make of its part. */
  async take(reader: ByteReader, code: number, part: Part, from: number): Promise<Part> {
    const name = await reader.text(from, Math.min(part.to - from, ICC.length))
    if (code === APP1 && name.startsWith(EXIF))
      return { ...part, exif: from, states: await exifStates(reader, from) }
    if (code === APP1) this.#takeXmp((await reader.slice(from, part.to)).toString('latin1'))
    if (code === APP2 && name === ICC) return { ...part, profile: from + ICC.length + 2 }
    if (code !== APP2 || !name.startsWith(MPF)) return part
    await this.#takeIndex(reader, from + MPF.length)
    return { ...part, role: 'index' }
  }

  async #takeIndex(reader: ByteReader, start: number): Promise<void> {
    const tiff = await Tiff.at(reader, start)
    const { entries: found } = await tiff.directory(tiff.first)
    const { at = 0, count = 0 } = found.get(MP_ENTRIES) ?? {}
    const entries = await reader.slice(at, at + count)
    this.#images = []
    for (let entry = 0; entry + MP_ENTRY <= entries.byteLength; entry += MP_ENTRY) {
      const [length, place] = [tiff.uint(entries, entry + 4, 4), tiff.uint(entries, entry + 8, 4)]
      // All offsets but the first image's, which is 0, count from the index.
      const from = start + place
      if (place > 0 && length > 0) this.#images.push({ from, to: from + length })
    }
  }

  /** Motion photos and pictures with a gain map have a directory of what follows them, older ones the length of a film. */
  #takeXmp(text: string): void {
    this.#film ||= numberOf('MicroVideoOffset', text)
    const [, directory] = /:Directory\b(.*?)(?:<\/[\w-]+:Directory>|$)/s.exec(text) ?? []
    if (directory === undefined) return
    const [primary = '', ...others] = directory.split('<rdf:li').slice(1)
    this.#items = others.map(item => numberOf('Length', item))
    this.#padding = numberOf('Padding', primary)
  }

  /** What must follow an image that ends at `end`, in a file of `size` bytes. Null: nothing. */
  behind(end: number, size: number): Announced | null {
    const spans = this.#images.filter(({ from }) => from >= end)
    const items = this.#items.filter(length => length > 0)
    const [item, film] = [end + this.#padding, Math.max(end, size - this.#film)]
    // Index and directory may name the same images.
    const count = Math.max(spans.length, items.length) + Number(this.#film > 0)
    if (items.length > 0) spans.push({ from: item, to: items.reduce((sum, length) => sum + length, item) })
    if (this.#film > 0) spans.push({ from: film, to: film + this.#film })
    const [from, to] = [Math.min(...spans.map(span => span.from)), Math.max(...spans.map(span => span.to))]
    return count > 0 ? { count, from, to } : null
  }
}
