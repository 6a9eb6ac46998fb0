/** Bytes behind the first image that its metadata name. */
export interface Announced {
  name: string
  from: number
  to: number
}

/** What the XMP of a motion photo, or of a picture with a gain map, contains. */
const XMP_MARKS = /MotionPhoto|MicroVideo|Container:Directory/
/** The number in an attribute or an element of XMP (0: there is none), whatever the prefix of its name space. */
function numberOf(name: string, text: string): number {
  return Number(new RegExp(`:${name}(?:\\s*=\\s*["']|>)\\s*(\\d{1,15})(?!\\d)`).exec(text)?.[1] ?? 0)
}

const MP_ENTRIES = 0xb002
const MP_ENTRY = 16

/** What the metadata of a JPEG's first image say that follows the image. */
export class Announcements {
  #images: Announced[] = []
  /** Lengths of what follows in order, with the padding before the first. */
  #items: number[] = []
  #padding = 0
  /** The length of the film at the file's end. */
  #film = 0

  /** The index of a multi-picture file (CIPA DC-007), built like a TIFF: the data of its segment, at this offset. */
  takeIndex(data: Buffer, offset: number): void {
    const view = data.subarray(4)
    const isLittle = view[0] === 0x49
    // Beyond the segment's end there are only zeros.
    const uint = (at: number, bytes: number) => {
      if (at + bytes > view.byteLength) return 0
      return isLittle ? view.readUIntLE(at, bytes) : view.readUIntBE(at, bytes)
    }
    const directory = uint(4, 4)
    const last = Math.min(view.byteLength, directory + 2 + 12 * uint(directory, 2)) - 12
    let tag = directory + 2
    while (tag <= last && uint(tag, 2) !== MP_ENTRIES) tag += 12
    if (tag > last) return
    const first = uint(tag + 8, 4)
    const end = Math.min(view.byteLength, first + uint(tag + 4, 4))
    this.#images = []
    for (let at = first, nth = 1; at + MP_ENTRY <= end; at += MP_ENTRY, nth++) {
      // All offsets but the first image's, which is 0, count from the index.
      const [length, from] = [uint(at + 4, 4), uint(at + 8, 4) + offset + 4]
      if (from > offset + 4 && length > 0)
        this.#images.push({ name: `image ${nth}`, from, to: from + length })
    }
  }

  /** The data of an APP1 segment: perhaps the XMP of a motion photo, or of a picture with a gain map. */
  takeXmp(data: Buffer): void {
    const text = data.toString('latin1')
    if (!XMP_MARKS.test(text)) return
    const [, directory = ''] = /:Directory\b(.*?)(?:<\/[\w-]+:Directory>|$)/s.exec(text) ?? []
    const [primary = '', ...others] = directory.split('<rdf:li').slice(1)
    this.#items = others.map(item => numberOf('Length', item))
    this.#padding = numberOf('Padding', primary)
    this.#film = numberOf('MicroVideoOffset', text)
  }

  /** What must follow an image that ends at `end`, in a file of `size` bytes, by offset. */
  behind(end: number, size: number): Announced[] {
    const found = this.#images.filter(({ from }) => from >= end)
    let at = end + this.#padding
    for (const [nth, length] of this.#items.entries()) {
      if (length > 0) found.push({ name: `item ${nth + 2}`, from: at, to: at + length })
      at += length
    }
    const from = Math.max(end, size - this.#film)
    if (this.#film > 0) found.push({ name: 'film', from, to: from + this.#film })
    return found.sort((a, b) => a.from - b.from)
  }
}
