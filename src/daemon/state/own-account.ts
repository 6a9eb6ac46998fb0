import { createHash, randomBytes, randomInt } from 'node:crypto'
import type { Endpoint } from '../../protocol/endpoints.ts'
import { type HostFailure, hostWith, type ImageHost, type Outcome } from '../../remote/host.ts'
import type { Clock } from '../../sync/clock.ts'
import { canBe } from '../../sync/listing/likeness.ts'
import type { Synced } from '../../synced/synced.ts'

/** Albums that are looked at, those with most images first, and pages of each: ours may lie behind what others put there. */
const ALBUMS_MOST = 8
const PAGES_MOST = 100
/** How often an account that shows nothing of ours is looked at, in milliseconds: as often as a refused key is tried. */
const HOUR_MS = 3_600_000

/** Why the account is not to be worked with, or null. */
type Doubt = Omit<HostFailure, 'endpoint'> | null

/**
 * The host, which is asked nothing with a new key before its account has shown images that are recorded. A key of another
 * account finds other images there, perhaps of the same ids: ours would be missed there, and others' deleted.
 */
export function hostOfOwnAccount(
  host: ImageHost,
  synced: Synced,
  apiKey: string,
  clock: Pick<Clock, 'monotonic'>,
): ImageHost {
  let looked: { at: number; doubt: Promise<Doubt> } | null = null
  const doubtNow = (signal: AbortSignal): Promise<Doubt> => {
    const now = clock.monotonic()
    if (looked && now - looked.at < HOUR_MS) return looked.doubt
    const look = { at: now, doubt: doubtAbout(host, synced, apiKey, signal) }
    looked = look
    // What another kept from looking is looked at again at once, and what was proved is known by its mark.
    const forget = () => {
      if (looked === look) looked = null
    }
    look.doubt.then(doubt => doubt?.code !== OTHER_ACCOUNT && forget(), forget)
    return look.doubt
  }
  const mayAsk = async (endpoint: Endpoint, signal: AbortSignal): Promise<HostFailure | null> => {
    if (isMarked(synced, apiKey)) return null
    const doubt = await doubtNow(signal)
    return doubt && { ...doubt, endpoint }
  }
  const guarded =
    <Args extends unknown[], T>(
      endpoint: Endpoint,
      signalOf: (args: Args) => AbortSignal,
      call: (...args: Args) => Promise<Outcome<T>>,
    ) =>
    async (...args: Args): Promise<Outcome<T>> => {
      const failure = await mayAsk(endpoint, signalOf(args))
      return failure ? { ok: false, failure } : call(...args)
    }
  return hostWith(host, {
    requestUpload: guarded('upload', ([, signal]) => signal, host.requestUpload.bind(host)),
    list: guarded('list', ([, , signal]) => signal, host.list.bind(host)),
    deleteImage: guarded('delete', ([, signal]) => signal, host.deleteImage.bind(host)),
    deleteAlbum: guarded('delete', ([, signal]) => signal, host.deleteAlbum.bind(host)),
    createAlbum: guarded('create_album', ([, signal]) => signal, host.createAlbum.bind(host)),
    unblock(endpoint) {
      looked = null
      host.unblock(endpoint)
    },
  })
}

export const OTHER_ACCOUNT = 'OTHER_ACCOUNT'

/** What speaks against the account, and what a person can do. */
export const OTHER_ACCOUNT_SAID =
  "the key was changed, and its account shows none of the images that are recorded: it is another account's, or they were deleted there"
export const OTHER_ACCOUNT_REMEDY =
  'put the old key back, or, where the account really is to be another, name another state_dir'

const otherAccount: Doubt = {
  remedy: 'key',
  code: OTHER_ACCOUNT,
  message: `${OTHER_ACCOUNT_SAID}; ${OTHER_ACCOUNT_REMEDY}`,
  unsent: true,
}

async function doubtAbout(
  host: ImageHost,
  synced: Synced,
  apiKey: string,
  signal: AbortSignal,
): Promise<Doubt> {
  const doubt = await judgeAccount(host, synced, apiKey, signal)
  if (doubt) return doubt
  await synced.commit(tx => tx.meta.set('key_mark', markOf(apiKey, randomBytes(8).toString('hex'))))
  return null
}

/** Whether the records know another key than this one, and images that its account is to show. */
export function isOtherKey(synced: Synced, apiKey: string): boolean {
  // A state from before keys were marked belongs to the key that it is opened with.
  return (
    synced.meta.get('key_mark') !== null &&
    !isMarked(synced, apiKey) &&
    synced.images.fullestAlbums(1).length > 0
  )
}

/** Looks whether a key's account shows images that are recorded. Records nothing. */
export async function judgeAccount(
  host: Pick<ImageHost, 'list'>,
  synced: Synced,
  apiKey: string,
  signal: AbortSignal,
): Promise<Doubt> {
  if (!isOtherKey(synced, apiKey)) return null
  let unseen: HostFailure | null = null
  for (const album of fromAnyOn(synced.images.fullestAlbums(ALBUMS_MOST))) {
    const shown = await showsOurs(host, synced, album, signal)
    // A plan that can't list can't tell.
    if (shown.ok ? shown.value : shown.failure.remedy === 'plan') return null
    // One album that can't be listed leaves it to the others.
    if (!shown.ok) unseen ??= shown.failure
    if (signal.aborted) break
  }
  return unseen ? { ...unseen, unsent: true } : otherAccount
}

/** An album whose listing fails keeps the next ones from being asked for for a while: it must not always be the first. */
function fromAnyOn<T>(all: readonly T[]): T[] {
  const first = randomInt(all.length)
  return [...all.slice(first), ...all.slice(0, first)]
}

/**
 * Whether most of the ids that are recorded in an album, and that it lists, are of the recorded images. Some hosts change
 * names, but hardly all of them: where each is another, it is an account that counts its images alike.
 */
async function showsOurs(
  host: Pick<ImageHost, 'list'>,
  synced: Synced,
  album: number | null,
  signal: AbortSignal,
): Promise<Outcome<boolean>> {
  const remote = album === null ? null : synced.albums.byId(album)!.remote_id
  for (let page = 1; page <= PAGES_MOST; page++) {
    const listed = await host.list(remote, page, signal)
    if (!listed.ok) return isAnothers(listed.failure, remote) ? { ok: true, value: false } : listed
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

/** §4.4 has no word on an album of another account: a host may deny that it is there, or refuse it. */
function isAnothers({ remedy }: HostFailure, album: string | null): boolean {
  return remedy === 'gone' || (remedy === 'not_permitted' && album !== null)
}

function isMarked({ meta }: Synced, apiKey: string): boolean {
  const mark = meta.get('key_mark')
  return mark !== null && mark === markOf(apiKey, mark.split(' ')[0]!)
}

/** Tells another key from the same one. It holds too little of the key for anybody to find it by that. */
function markOf(apiKey: string, salt: string): string {
  return `${salt} ${createHash('sha256').update(`${salt} ${apiKey}`).digest('hex').slice(0, 8)}`
}
