import { PER_PAGE } from '../../src/protocol/limits.ts'

interface Kept {
  id: string
  name: string
  depth: number
  albums: Kept[]
  images: { id: string; name: string; size: number; width: number; height: number }[]
}

const TIME = '2026-01-01T00:00:00+00:00'

/** Albums with what was sent into them, for as long as the process lives. Ids count up. */
export class AlbumsInMemory {
  readonly #root: Kept = { id: '', name: '', depth: 0, albums: [], images: [] }
  readonly #byId = new Map<string, Kept>([['', this.#root]])
  readonly #promised = new Map<string, { album: Kept; image: Kept['images'][number] }>()
  #last = 0

  /** §4.6 */
  create(name: string, parent: string | null): object {
    const above = this.#byId.get(parent ?? '')!
    const album: Kept = { id: this.#nextId(), name, depth: above.depth + 1, albums: [], images: [] }
    above.albums.push(album)
    this.#byId.set(album.id, album)
    return { id: album.id, name, depth: album.depth, created_at: TIME }
  }

  /** §4.1: answers the image's id. */
  promise(wanted: {
    file_name: string
    file_size: number
    width?: number
    height?: number
    album_id?: string
  }): string {
    const { file_name: name, file_size: size, width = 1, height = 1, album_id = '' } = wanted
    const id = this.#nextId()
    this.#promised.set(id, { album: this.#byId.get(album_id)!, image: { id, name, size, width, height } })
    return id
  }

  /** §4.2: the picture is here. */
  keep(id: string): void {
    const { album, image } = this.#promised.get(id)!
    this.#promised.delete(id)
    album.images.push(image)
  }

  /** §4.4 */
  list(id: string, page: number): object {
    const { albums, images } = this.#byId.get(id)!
    const from = (page - 1) * PER_PAGE
    return {
      albums: albums.map(album => ({
        id: album.id,
        name: album.name,
        depth: album.depth,
        image_count: album.images.length,
        sub_count: album.albums.length,
        created_at: TIME,
      })),
      images: images
        .slice(from, from + PER_PAGE)
        .map(image => ({ ...image, size: `${image.size} B`, time: TIME })),
      pagination: {
        page,
        per_page: PER_PAGE,
        total_pages: Math.ceil(images.length / PER_PAGE),
        total_images: images.length,
      },
    }
  }

  #nextId(): string {
    this.#last++
    return `id${String(this.#last).padStart(10, '0')}`
  }
}
