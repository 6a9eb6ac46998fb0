import type { Endpoint } from '../../protocol/endpoints.ts'
import { cancelled } from '../../remote/failures.ts'
import { Blocks } from '../../remote/gate/blocks.ts'
import type { Block, HostFailure, ImageHost, ListPage, Outcome } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because } from '../../words/reasons.ts'

/** The number of images on a page (§4.4). */
const PAGE = 100

export interface RecordedHostOptions {
  /** What the host refused the last process. The host refuses it still, but an outage is taken as over. */
  blocks: readonly Block[]
  quotaLeft: number
  usedUp: HostFailure
  onDelete: (image: ImageRow) => void
}

/** The image host of a dry run. It holds what is recorded, and takes what the account allows. No request leaves the machine. */
export function recordedHost(
  { albums, images, unusedAlbums }: Synced,
  { blocks, quotaLeft, usedUp, onDelete }: RecordedHostOptions,
): ImageHost {
  let left = quotaLeft
  let made = 0
  /** Ids in ascending order, because these are recorded quicker than random ones. */
  const newId = () => `dry-run-${++made}`
  /** Where the known pages of each album begin. */
  const starts = new Map<number | null, number[]>()
  const refused = new Blocks()
  for (const { since, ...failure } of blocks) refused.note(failure, since)

  async function unlessRefused<T>(endpoint: Endpoint, serve: () => Outcome<T>): Promise<Outcome<T>> {
    const failure = refused.of(endpoint)
    return failure ? { ok: false, failure } : serve()
  }
  const unlessStopped = <T>(endpoint: Endpoint, mayGo: (() => boolean) | undefined, serve: () => T) =>
    unlessRefused(endpoint, () =>
      mayGo?.() === false ? { ok: false, failure: cancelled(endpoint, 'nothing') } : done(serve()),
    )

  /** One page of an album's listing. Walks read the pages in order, so a page is looked for behind the one before. */
  function listed(album: number | null, page: number): ListPage {
    const total_images = images.countInAlbum(album)
    const known = page === 1 ? [0] : (starts.get(album) ?? [0])
    starts.set(album, known)
    const after = (at: number) => images.inAlbumAfter({ album, after: known[at]!, most: PAGE })
    while (known.length < page) known.push(after(known.length - 1).at(-1)?.id ?? known.at(-1)!)
    const rows = after(page - 1)
    const inside = page === 1 ? unusedAlbums.below(album) : []
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
      unlessRefused('upload', () =>
        left-- > 0 ? done({ uploadUrl: '', cdnUrl: null, imageId: null }) : { ok: false, failure: usedUp },
      ),
    send: async () => done({ imageId: newId(), cdnUrl: null }),
    list: (id, page) =>
      unlessRefused('list', () => {
        return done(listed(id === null ? null : albums.byRemoteId(id)!.id, page))
      }),
    deleteImage: (id, _signal, mayGo) =>
      unlessStopped('delete', mayGo, () => onDelete(images.byRemoteId(id)!)),
    deleteAlbum: (_id, _signal, mayGo) => unlessStopped('delete', mayGo, () => undefined),
    createAlbum: (_request, _signal, mayGo) => unlessStopped('create_album', mayGo, () => ({ id: newId() })),
    fetchDelivered: async () => ({ ok: false, code: 'DRY_RUN', message: because('dry_run') }),
    blocks: () => refused.list(),
    unblock() {},
    askNow() {},
    close: async () => null,
  }
}

function done<T>(value: T): Outcome<T> {
  return { ok: true, value }
}
