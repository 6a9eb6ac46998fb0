/** Bytes behind the first image that its metadata name. */
export interface Announced {
  name: string
  from: number
  to: number
}

/** What the XMP of a motion photo, or of a picture with a gain map, contains. */
const XMP_MARKS = ['MotionPhoto', 'MicroVideo', 'Container:Directory']
/** An attribute or an element of XMP with a number, whatever the prefix of its name space. */
const numberOf = (name: string, text: string): number | null => {
  const [, digits] = new RegExp(`:${name}(?:\\s*=\\s*["']|>)\\s*(\\d{1,15})(?!\\d)`).exec(text) ?? []
  return digits === undefined ? null : Number(digits)
}

/** What the metadata of a JPEG's first image say that follows the image. */
export class Announcements {
  /** They say that something follows, but not how much. */
  isVague = false
  readonly #images: Announced[] = []
  /** Lengths of what follows in order, with the padding before the first. */
  #items: number[] = []
  #padding = 0
  /** The length of the film at the file's end. */
  #film = 0

  /** The index of a multi-picture file (CIPA DC-007): the data of its segment, at this offset in the file. */
  takeIndex(data: Buffer, offset: number): void {
    // All offsets but the first image's count from here.
    const start = offset + 4
    const entries = mpEntries(data.subarray(4))
    for (const [nth, { at, length }] of (entries ?? []).entries())
      if (at > 0 && length > 0)
        this.#images.push({ name: `image ${nth + 1}`, from: start + at, to: start + at + length })
    this.isVague ||= entries === null
  }

  /** The data of an APP1 segment: perhaps the XMP of a motion photo, or of a picture with a gain map. */
  takeXmp(data: Buffer): void {
    if (!XMP_MARKS.some(mark => data.includes(mark, 0, 'latin1'))) return
    const text = data.toString('latin1')
    const [, directory = ''] = /:Directory\b(.*?)(?:<\/[\w-]+:Directory>|$)/s.exec(text) ?? []
    const [primary = '', ...others] = directory.split('<rdf:li').slice(1)
    const lengths = others.map(item => numberOf('Length', item))
    const film = numberOf('MicroVideoOffset', text)
    this.isVague ||= lengths.includes(null) || (film === null && lengths.length === 0)
    this.#items = lengths.map(length => length ?? 0)
    this.#padding = numberOf('Padding', primary) ?? 0
    this.#film = film ?? 0
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

const MP_ENTRIES = 0xb002
const MP_ENTRY = 16

/** The entries in an index, which is built like a TIFF. Null: it can't be read. */
function mpEntries(view: Buffer): { at: number; length: number }[] | null {
  const isLittle = view[0] === 0x49
  // Beyond the segment's end there are only zeros.
  const uint = (at: number, bytes: number) => {
    if (at + bytes > view.byteLength) return 0
    return isLittle ? view.readUIntLE(at, bytes) : view.readUIntBE(at, bytes)
  }
  const directory = uint(4, 4)
  for (let nth = 0; nth < uint(directory, 2); nth++) {
    const at = directory + 2 + 12 * nth
    if (uint(at, 2) !== MP_ENTRIES) continue
    const [bytes, first] = [uint(at + 4, 4), uint(at + 8, 4)]
    if (first + bytes > view.byteLength) return null
    return Array.from({ length: Math.floor(bytes / MP_ENTRY) }, (_, index) => {
      const entry = first + MP_ENTRY * index
      return { at: uint(entry + 8, 4), length: uint(entry + 4, 4) }
    })
  }
  return null
}
