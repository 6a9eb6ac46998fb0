import { randomUUID } from 'node:crypto'
import type { Endpoint } from '../../protocol/endpoints.ts'
import { cancelled } from '../../remote/failures.ts'
import type { Block, HostFailure, ImageHost, ListPage, Outcome } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because } from '../../words/reasons.ts'

/** §4.4 */
const PAGE = 100

export interface RecordedHostOptions {
  /** What the host refused the last process. It refuses it still. */
  blocks: readonly Block[]
  /** How many pictures it takes. */
  quotaLeft: number
  /** The failure after which it takes no more. */
  usedUp: HostFailure
  /** An image is about to be deleted. */
  onDelete: (image: ImageRow) => void
}

/** The image host of a dry run. It holds what is recorded, and takes what the account allows. No request leaves the machine. */
export function recordedHost(
  { albums, images, unusedAlbums }: Synced,
  { blocks, quotaLeft, usedUp, onDelete }: RecordedHostOptions,
): ImageHost {
  let left = quotaLeft
  /** By album, where its next pages begin. A walk reads one page after the other. */
  const cursors = new Map<number | null, number[]>()

  const blockOf = (endpoint: Endpoint) => blocks.find(block => block.endpoint === endpoint)
  async function unlessBlocked<T>(endpoint: Endpoint, serve: () => Outcome<T>): Promise<Outcome<T>> {
    const block = blockOf(endpoint)
    return block ? { ok: false, failure: { ...block, repeated: true } } : serve()
  }
  const unlessStopped = <T>(endpoint: Endpoint, mayGo: (() => boolean) | undefined, serve: () => T) =>
    unlessBlocked(endpoint, () =>
      mayGo?.() === false ? { ok: false, failure: cancelled(endpoint, 'nothing') } : done(serve()),
    )

  function listed(album: number | null, page: number): ListPage {
    const total_images = images.countInAlbum(album)
    const starts = cursors.get(album) ?? [0]
    cursors.set(album, starts)
    for (let at = starts.length; at < page; at++)
      starts[at] =
        images.inAlbumAfter({ album, after: starts[at - 1]!, most: PAGE }).at(-1)?.id ?? starts[at - 1]!
    const rows = images.inAlbumAfter({ album, after: starts[page - 1]!, most: PAGE })
    const inside = page > 1 ? [] : unusedAlbums.below(album)
    return {
      albums: inside.map(({ remote_id: id, name }) => ({
        id,
        name,
        image_count: 0,
        sub_count: 0,
        created_at: '',
      })),
      images: rows.map(({ remote_id: id, name }) => ({ id, name })),
      pagination: { total_pages: Math.max(1, Math.ceil(total_images / PAGE)), total_images },
      cdn_base_url: null,
    }
  }

  return {
    requestUpload: () =>
      unlessBlocked('upload', () =>
        left-- > 0 ? done({ uploadUrl: '', cdnUrl: null, imageId: null }) : { ok: false, failure: usedUp },
      ),
    send: async () => done({ imageId: randomUUID(), cdnUrl: null }),
    list: (id, page) =>
      unlessBlocked('list', () => {
        const album = id === null ? null : albums.byRemoteId(id)!.id
        if (page === 1) cursors.delete(album)
        return done(listed(album, page))
      }),
    deleteImage: (id, _signal, mayGo) =>
      unlessStopped('delete', mayGo, () => onDelete(images.byRemoteId(id)!)),
    deleteAlbum: (_id, _signal, mayGo) => unlessStopped('delete', mayGo, () => undefined),
    createAlbum: (_request, _signal, mayGo) =>
      unlessStopped('create_album', mayGo, () => ({ id: randomUUID() })),
    fetchDelivered: async () => ({ ok: false, code: 'DRY_RUN', message: because('dry_run') }),
    blocks: () => [...blocks],
    unblock() {},
    close: async () => null,
  }
}

function done<T>(value: T): Outcome<T> {
  return { ok: true, value }
}
