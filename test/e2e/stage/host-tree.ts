import { type Dispatcher, fetch } from 'undici'
import type { ListPage } from '../../../src/remote/host.ts'

export interface HostTreeOptions {
  baseUrl: string
  cdnBaseUrl: string
  key: string
  dispatcher?: Dispatcher
}

/** What a host holds, as whoever has its key sees it. */
export class HostTree {
  readonly #host: HostTreeOptions

  constructor(host: HostTreeOptions) {
    this.#host = host
  }

  /** Every image: its album's path with its name, and its id. */
  async *images(album: string | null = null, path = ''): AsyncGenerator<{ path: string; id: string }> {
    for (let page = 1, last = 1; page <= last; page++) {
      const { albums, images, pagination } = await this.#list(album, page)
      last = pagination.total_pages
      for (const image of images) yield { path: `${path}${image.name ?? ''}`, id: image.id }
      if (page === 1) for (const child of albums) yield* this.images(child.id, `${path}${child.name}/`)
    }
  }

  /** The albums' paths, each as often as it is there. */
  async albums(parent: string | null = null, path = ''): Promise<string[]> {
    const paths: string[] = []
    for (const { id, name } of (await this.#list(parent, 1)).albums)
      paths.push(`${path}${name}`, ...(await this.albums(id, `${path}${name}/`)))
    return paths
  }

  /** What an image's delivery address gives. */
  async delivered(id: string): Promise<Uint8Array> {
    const { cdnBaseUrl, dispatcher } = this.#host
    const response = await fetch(`${cdnBaseUrl}/i/${id}`, { ...(dispatcher && { dispatcher }) })
    return new Uint8Array(await response.arrayBuffer())
  }

  async #list(album: string | null, page: number): Promise<ListPage> {
    const { baseUrl, key, dispatcher } = this.#host
    const query = new URLSearchParams({ page: String(page), ...(album && { album_id: album }) })
    const response = await fetch(`${baseUrl}/list?${query}`, {
      headers: { 'x-api-key': key },
      ...(dispatcher && { dispatcher }),
    })
    const { data } = (await response.json()) as { data: ListPage }
    // A host may be told to leave out empty lists.
    return { ...data, albums: data.albums ?? [], images: data.images ?? [] }
  }
}
