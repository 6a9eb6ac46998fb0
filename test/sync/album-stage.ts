import { expect } from 'vitest'
import type { HostOptions } from '../../src/host/embedded-host.ts'
import { PictureBuffers } from '../../src/local/picture-buffers.ts'
import { openPicture } from '../../src/local/picture-file.ts'
import { systemClock } from '../../src/protocol/clock.ts'
import { pictureReader } from '../../src/protocol/likeness/likeness.ts'
import {
  hostWith,
  type ImageHost,
  type ListPage,
  type Outcome,
  PictureChanged,
} from '../../src/remote/host.ts'
import type { Album } from '../../src/sync/album.ts'
import { AlbumTree } from '../../src/sync/albums/album-tree.ts'
import { ALONE } from '../../src/sync/claims.ts'
import type { DeliveryPort } from '../../src/sync/context.ts'
import { AlbumContents } from '../../src/sync/listing/album-contents.ts'
import type { Synced } from '../../src/synced/synced.ts'
import type { AlbumRow } from '../../src/synced/tables/albums.ts'
import { inWords } from '../../src/words/reasons.ts'
import { KEY, UNLIMITED } from '../host/choices.ts'
import { type TestHost, testHost } from '../host/test-host.ts'
import type { TestPicture } from '../pictures.ts'
import { clientOf } from '../remote/client-of.ts'
import { emptyState } from '../synced/open-tx.ts'

export const never = new AbortController().signal

/** V8 collects garbage each few pictures where each takes memory of its own. */
const buffers = new PictureBuffers()

/** How pictures on the disk are read. */
export const READING: Pick<DeliveryPort, 'pictures' | 'openPicture'> = {
  pictures: pictureReader,
  openPicture: (root, path) => openPicture(root, path, { changed: () => new PictureChanged(), buffers }),
}

/** A real host, a state, and album trees between them. */
export interface AlbumStage {
  /** The host for a plain client. */
  there: TestHost
  /** The host for albumd. */
  host: ImageHost
  synced: Synced
  /** Requests that reached the host, such as `list` or `create_album`. */
  asked: string[]
  /** The tree of one pass; `changes` replace some of the host's calls. What was made or asked for counts as long ago, unless
   * credentials have a life. */
  tree(changes?: Partial<ImageHost>, credentialLifetimeMs?: number): AlbumTree
}

export async function openAlbumStage(options: Partial<HostOptions> = {}): Promise<AlbumStage> {
  const there = await testHost(options)
  const asked: string[] = []
  const host = clientOf(there.running.siteUrl, {
    apiKey: KEY,
    requestsPerSecond: UNLIMITED,
    patience: { attempts: 2, maxDelayMs: 10 },
    onRequest: ({ endpoint }) => asked.push(endpoint),
  })
  const synced = emptyState()
  const contents = new AlbumContents()
  return {
    there,
    host,
    synced,
    asked,
    tree: (changes, credentialLifetimeMs = Number.NEGATIVE_INFINITY) =>
      new AlbumTree({
        synced,
        host: hostWith(host, changes ?? {}),
        clock: systemClock,
        claims: ALONE,
        emit: () => {},
        contents,
        ...READING,
        credentialLifetimeMs,
      }),
  }
}

/** The album that a search ended with. */
export function found(outcome: Outcome<Album>): AlbumRow {
  expect(outcome).toMatchObject({ ok: true, value: { id: expect.any(Number) } })
  return (outcome as { value: AlbumRow }).value
}

/** Listings as the host gives them, then changed. */
export function listingWith(
  host: ImageHost,
  change: (page: ListPage, number: number, albumId: string | null) => ListPage,
): ImageHost['list'] {
  return async (albumId, number, signal) => {
    const listed = await host.list(albumId, number, signal)
    return listed.ok ? { ok: true, value: change(listed.value, number, albumId) } : listed
  }
}

export const countingMore = (host: ImageHost): ImageHost['list'] =>
  listingWith(host, page => {
    const { pagination } = page
    return { ...page, pagination: { ...pagination, total_images: pagination.total_images + 1 } }
  })

/** The host, whose listings know nothing of what was made since. */
export async function lateListing({ host, there }: AlbumStage): Promise<Pick<ImageHost, 'list'>> {
  const known = new Set((await there.list()).albums.map(({ id }) => id))
  return {
    list: listingWith(host, page => ({ ...page, albums: page.albums.filter(({ id }) => known.has(id)) })),
  }
}

export const times = (asked: readonly string[], endpoint: string) =>
  asked.filter(one => one === endpoint).length

/** What another person does on the host, by the same interface. */

/** Puts an image there. Answers its id. */
export async function putImage(
  host: ImageHost,
  album: string | null,
  name: string,
  picture: TestPicture,
): Promise<string> {
  const { mime, width, height, bytes } = picture
  const request = { file_name: name, file_size: bytes.byteLength, mime_type: mime, width, height }
  const credential = given(await host.requestUpload({ ...request, ...(album && { album_id: album }) }, never))
  async function* chunks() {
    yield bytes
  }
  return given(
    await host.send(credential, { fileName: name, mime, size: bytes.byteLength, chunks, bytes }, never),
  ).imageId!
}

/** Makes an album. Answers its id. */
export async function remoteAlbum(host: ImageHost, name: string, parent: string | null): Promise<string> {
  return given(await host.createAlbum({ name, parent_album: parent }, never)).id
}

/** The names of the albums and images in an album; undefined where it is not there. */
export async function contentOf(host: ImageHost, album: string | null): Promise<string[] | undefined> {
  const listed = await host.list(album, 1, never)
  if (!listed.ok && listed.failure.remedy === 'gone') return undefined
  const { albums, images } = given(listed)
  return [...albums.map(({ name }) => name), ...images.map(({ name }) => name ?? '')].sort()
}

function given<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(inWords(outcome.failure.message))
  return outcome.value
}
