import { hash, randomBytes, randomInt } from 'node:crypto'
import type { Stopwatch } from '../../protocol/clock.ts'
import type { Endpoint } from '../../protocol/endpoints.ts'
import { OTHER_ACCOUNT } from '../../remote/failures.ts'
import {
  type Block,
  type HostFailure,
  hostWith,
  type ImageHost,
  type Lister,
  type Outcome,
} from '../../remote/host.ts'
import { isAltered } from '../../sync/delivered/index.ts'
import { canBe } from '../../sync/listing/index.ts'
import type { Synced } from '../../synced/synced.ts'
import { because } from '../../words/reasons.ts'

/** How many albums are looked at, the fullest first. Recorded images may stand on a late page, after images of others. */
const ALBUMS_MOST = 8
const PAGES_MOST = 100

/** Why albumd may not work with the account. Null: it may. */
type Doubt = Omit<HostFailure, 'endpoint'> | null

/** Checks the account of a new key before the first request: its albums must show recorded images. Another account may have
 * images with the same ids, and albumd would delete those of another person. */
export function hostOfOwnAccount(
  host: ImageHost,
  synced: Synced,
  apiKey: string,
  clock: Stopwatch,
): ImageHost {
  let looking: Promise<Doubt> | null = null
  /** The block of another account's key. `untried`: `unblock` opened the block, and no check has ended since. */
  let shut: { doubt: NonNullable<Doubt>; block: Block; untried: boolean } | null = null
  const look = async (endpoint: Endpoint, signal: AbortSignal): Promise<Doubt> => {
    const doubt = await checkAndRecord(host, synced, apiKey, signal)
    if (doubt === null) shut = null
    else if (doubt.code === OTHER_ACCOUNT) {
      const { remedy, code, message } = doubt
      shut = { doubt, block: { endpoint, remedy, code, message, since: clock.monotonic() }, untried: false }
    }
    return doubt
  }
  // The `key_mark` that belongs to this key, or null. The hash is computed only when `key_mark` changes.
  let known: string | null = null
  const isKnown = () => {
    const recorded = synced.meta.get('key_mark')
    if (recorded !== known) known = isRecordedKey(synced, apiKey) ? recorded : null
    return known !== null
  }
  const ask = async <T>(endpoint: Endpoint, signal: AbortSignal, call: () => Promise<Outcome<T>>) => {
    if (isKnown()) return call()
    if (shut?.untried === false)
      return { ok: false as const, failure: { ...shut.doubt, endpoint, repeated: true as const } }
    looking ??= look(endpoint, signal).finally(() => {
      looking = null
    })
    const doubt = await looking
    return doubt ? { ok: false as const, failure: { ...doubt, endpoint } } : call()
  }
  return hostWith(host, {
    requestUpload: (request, signal) => ask('upload', signal, () => host.requestUpload(request, signal)),
    list: (album, page, signal) => ask('list', signal, () => host.list(album, page, signal)),
    deleteImage: (id, signal, mayGo) => ask('delete', signal, () => host.deleteImage(id, signal, mayGo)),
    deleteAlbum: (id, signal, mayGo) => ask('delete', signal, () => host.deleteAlbum(id, signal, mayGo)),
    createAlbum: (request, signal, mayGo) =>
      ask('create_album', signal, () => host.createAlbum(request, signal, mayGo)),
    blocks: untried => [...(shut && (untried || !shut.untried) ? [shut.block] : []), ...host.blocks(untried)],
    unblock(endpoint) {
      if (shut) shut.untried = true
      host.unblock(endpoint)
    },
  })
}

async function checkAndRecord(
  host: ImageHost,
  synced: Synced,
  apiKey: string,
  signal: AbortSignal,
): Promise<Doubt> {
  const doubt = await judgeAccount(host, synced, apiKey, signal)
  if (doubt === null)
    await synced.commit(tx => tx.meta.set('key_mark', shortHashOf(apiKey, randomBytes(8).toString('hex'))))
  return doubt
}

export function isNewKey(synced: Synced, apiKey: string): boolean {
  // A state without a recorded key belongs to the key with which it is first opened.
  return synced.meta.get('key_mark') !== null && !isRecordedKey(synced, apiKey)
}

/** Whether the records know another key than this one, and have images by which to check the account. */
export function isOtherKey(synced: Synced, apiKey: string): boolean {
  return isNewKey(synced, apiKey) && synced.images.fullestAlbums(1).length > 0
}

/** Checks whether a key's account shows recorded images. Records nothing. */
export async function judgeAccount(
  host: Lister,
  synced: Synced,
  apiKey: string,
  signal: AbortSignal,
): Promise<Doubt> {
  if (!isOtherKey(synced, apiKey)) return null
  const albums = synced.images.fullestAlbums(ALBUMS_MOST)
  // Begins anywhere, because after a failed listing the host is not asked for a while: an album may always fail.
  const first = randomInt(albums.length)
  let unseen: HostFailure | null = null
  for (const album of [...albums.slice(first), ...albums.slice(0, first)]) {
    const shown = await showsRecordedImages(host, synced, album, signal)
    // A plan without listings allows no check, so albumd accepts the account.
    if (shown.ok ? shown.value : shown.failure.remedy === 'plan') return null
    // After an album that can't be listed, the check goes on with the next one.
    if (!shown.ok) unseen ??= shown.failure
    if (signal.aborted) break
  }
  return unseen
    ? { ...unseen, unsent: true }
    : { remedy: 'key', code: OTHER_ACCOUNT, message: because('other_account'), unsent: true }
}

/** Whether more than half of the listed images with recorded ids resemble their records, and at least one has its recorded name.
 * Some hosts change some names. Where all names differ, another account has the same ids by chance. */
async function showsRecordedImages(
  host: Lister,
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
      if (!record) return []
      const sizes = !isAltered(synced, record.mime)
      return [
        { fits: canBe(image, record, { names: false, sizes }), isNamed: canBe(image, record, { sizes }) },
      ]
    })
    const fitting = known.filter(({ fits }) => fits).length
    if (known.length > 0)
      return { ok: true, value: fitting * 2 > known.length && known.some(({ isNamed }) => isNamed) }
    if (page >= listed.value.pagination.total_pages) break
  }
  return { ok: true, value: false }
}

/** Whether a failure shows another account's album, which the host may call missing or refuse (§4.4). */
function isOfAnotherAccount({ remedy }: HostFailure, album: string | null): boolean {
  return remedy === 'gone' || (remedy === 'not_permitted' && album !== null)
}

function isRecordedKey({ meta }: Synced, apiKey: string): boolean {
  const recorded = meta.get('key_mark')
  return recorded !== null && recorded === shortHashOf(apiKey, recorded.split(' ')[0]!)
}

/** A short hash by which a key is recognized. It has too few bits to find the key by it. */
function shortHashOf(apiKey: string, salt: string): string {
  return `${salt} ${hash('sha256', `${salt} ${apiKey}`).slice(0, 8)}`
}
