import { createHash, randomBytes, randomInt } from 'node:crypto'
import type { Endpoint } from '../../protocol/endpoints.ts'
import { type HostFailure, hostWith, type ImageHost, type Outcome } from '../../remote/host.ts'
import type { Clock } from '../../sync/clock.ts'
import { canBe } from '../../sync/listing/index.ts'
import type { Synced } from '../../synced/synced.ts'
import { because } from '../../words/reasons.ts'

/**
 * How many albums are looked at, beginning with the fullest, and how many pages of each. Recorded images may be on a late
 * page, because other programs may have put images there too.
 */
const ALBUMS_MOST = 8
const PAGES_MOST = 100
/** How often another account is looked at again. A refused key is tried as often. */
const HOUR_MS = 3_600_000

/** Why albumd may not work with the account. Null: it may. */
type Doubt = Omit<HostFailure, 'endpoint'> | null

/**
 * A host that is asked nothing with a new key until the key's account has shown recorded images. Another account has other
 * images, perhaps with the same ids. albumd would take its own images for gone there, and delete another person's images.
 */
export function hostOfOwnAccount(
  host: ImageHost,
  synced: Synced,
  apiKey: string,
  clock: Pick<Clock, 'monotonic'>,
): ImageHost {
  let looked: { at: number; doubt: Promise<Doubt> } | null = null
  const doubtNow = (signal: AbortSignal): Promise<Doubt> => {
    const at = clock.monotonic()
    if (looked && at - looked.at < HOUR_MS) return looked.doubt
    const look = { at, doubt: lookAndMark(host, synced, apiKey, signal) }
    looked = look
    // Only OTHER_ACCOUNT is remembered. After a failure the next request looks again, and a proved key has its mark.
    const forget = () => {
      if (looked === look) looked = null
    }
    look.doubt.then(doubt => doubt?.code !== OTHER_ACCOUNT && forget(), forget)
    return look.doubt
  }
  // The mark that was last seen to be the key's. It is asked for before each request.
  let known: string | null = null
  const isKnown = () => {
    const mark = synced.meta.get('key_mark')
    if (mark !== known) known = isMarked(synced, apiKey) ? mark : null
    return known !== null
  }
  const ask = async <T>(endpoint: Endpoint, signal: AbortSignal, call: () => Promise<Outcome<T>>) => {
    const doubt = isKnown() ? null : await doubtNow(signal)
    return doubt ? { ok: false as const, failure: { ...doubt, endpoint } } : call()
  }
  return hostWith(host, {
    requestUpload: (request, signal) => ask('upload', signal, () => host.requestUpload(request, signal)),
    list: (album, page, signal) => ask('list', signal, () => host.list(album, page, signal)),
    deleteImage: (id, signal, mayGo) => ask('delete', signal, () => host.deleteImage(id, signal, mayGo)),
    deleteAlbum: (id, signal, mayGo) => ask('delete', signal, () => host.deleteAlbum(id, signal, mayGo)),
    createAlbum: (request, signal) => ask('create_album', signal, () => host.createAlbum(request, signal)),
    unblock(endpoint) {
      looked = null
      host.unblock(endpoint)
    },
  })
}

export const OTHER_ACCOUNT = 'OTHER_ACCOUNT'

/** Marks a key whose account shows recorded images. */
async function lookAndMark(
  host: ImageHost,
  synced: Synced,
  apiKey: string,
  signal: AbortSignal,
): Promise<Doubt> {
  const doubt = await judgeAccount(host, synced, apiKey, signal)
  if (doubt === null)
    await synced.commit(tx => tx.meta.set('key_mark', markOf(apiKey, randomBytes(8).toString('hex'))))
  return doubt
}

/** Whether the records know another key than this one, and images by which the account can be checked. */
export function isOtherKey(synced: Synced, apiKey: string): boolean {
  // A state without a mark belongs to the key with which it is opened first.
  return (
    synced.meta.get('key_mark') !== null &&
    !isMarked(synced, apiKey) &&
    synced.images.fullestAlbums(1).length > 0
  )
}

/** Looks whether a key's account shows recorded images. Records nothing. */
export async function judgeAccount(
  host: Pick<ImageHost, 'list'>,
  synced: Synced,
  apiKey: string,
  signal: AbortSignal,
): Promise<Doubt> {
  if (!isOtherKey(synced, apiKey)) return null
  const albums = synced.images.fullestAlbums(ALBUMS_MOST)
  // After a failed listing the host is not asked for a while, so the album that fails must not be the first each time.
  const first = randomInt(albums.length)
  let unseen: HostFailure | null = null
  for (const album of [...albums.slice(first), ...albums.slice(0, first)]) {
    const shown = await showsRecordedImages(host, synced, album, signal)
    // Where the plan does not allow listing, the account can't be checked, so it is accepted.
    if (shown.ok ? shown.value : shown.failure.remedy === 'plan') return null
    // When an album can't be listed, the next albums are still looked at.
    if (!shown.ok) unseen ??= shown.failure
    if (signal.aborted) break
  }
  return unseen
    ? { ...unseen, unsent: true }
    : { remedy: 'key', code: OTHER_ACCOUNT, message: because('other_account'), unsent: true }
}

/**
 * Whether an album shows recorded images: most listed images with a recorded id must resemble the record, and at least one
 * must have the recorded name. Some hosts change names, but not all of them. Where all names differ, another account uses
 * the same ids by chance.
 */
async function showsRecordedImages(
  host: Pick<ImageHost, 'list'>,
  synced: Synced,
  album: number | null,
  signal: AbortSignal,
): Promise<Outcome<boolean>> {
  const remote = album === null ? null : synced.albums.byId(album)!.remote_id
  for (let page = 1; page <= PAGES_MOST; page++) {
    const listed = await host.list(remote, page, signal)
    if (!listed.ok) return isOfAnotherAccount(listed.failure, remote) ? { ok: true, value: false } : listed
    const known = listed.value.images.flatMap(image => {
      const record = synced.images.byRemoteId(image.id)
      return record ? [{ fits: canBe(image, record, false), isNamed: canBe(image, record) }] : []
    })
    const fitting = known.filter(({ fits }) => fits).length
    if (known.length > 0)
      return { ok: true, value: fitting * 2 > known.length && known.some(({ isNamed }) => isNamed) }
    if (page >= listed.value.pagination.total_pages) break
  }
  return { ok: true, value: false }
}

/** §4.4 does not say what a host answers about another account's album. It may say that the album does not exist, or refuse. */
function isOfAnotherAccount({ remedy }: HostFailure, album: string | null): boolean {
  return remedy === 'gone' || (remedy === 'not_permitted' && album !== null)
}

function isMarked({ meta }: Synced, apiKey: string): boolean {
  const mark = meta.get('key_mark')
  return mark !== null && mark === markOf(apiKey, mark.split(' ')[0]!)
}

/** Tells whether a key is the same, with too few bits for anybody to find out the key. */
function markOf(apiKey: string, salt: string): string {
  return `${salt} ${createHash('sha256').update(`${salt} ${apiKey}`).digest('hex').slice(0, 8)}`
}
