import { type HostFailure, hostWith, type ImageHost, type Outcome } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Clock } from '../clock.ts'
import { walkWhole } from './walk.ts'

/**
 * A host may refuse an album although it lists this album, and then it refuses each picture of the album. So after the
 * album was seen in a listing, albumd does not look for it again for so many milliseconds.
 */
const BELIEVED = 3_600_000

/**
 * Wraps a host, so that a request that was refused because its album is gone fails with the remedy `gone`, as after
 * NOT_FOUND. §4 names no code for an album that is gone, so after a refusal albumd looks whether the album above still
 * lists the album. An example: another person deletes an album, and the host answers the next upload into it with
 * FORBIDDEN.
 */
export function tellingLostAlbums(
  host: ImageHost,
  { albums }: Synced,
  clock: Pick<Clock, 'monotonic'>,
): ImageHost {
  /**
   * By the album's id on the host: until when a refusal of this album is not checked, because the album was seen in a
   * listing.
   */
  const listed = new Map<string, number>()

  async function isLost(id: string, signal: AbortSignal): Promise<boolean> {
    const album = albums.byRemoteId(id)
    const now = clock.monotonic()
    if (!album || now < (listed.get(id) ?? Number.NEGATIVE_INFINITY)) return false
    const above = album.parent === null ? null : albums.byId(album.parent)!.remote_id
    const walk = await walkWhole(telling, above, signal)
    if (!walk.ok) return walk.failure.remedy === 'gone' && above !== null
    if (!walk.value.settled) return false
    if (!walk.value.albums.some(other => other.id === id)) return true
    listed.set(id, now + BELIEVED)
    return false
  }

  async function told<T>(
    outcome: Outcome<T>,
    id: string | null | undefined,
    signal: AbortSignal,
  ): Promise<Outcome<T>> {
    if (outcome.ok || !id || !mayMeanLost(outcome.failure) || !(await isLost(id, signal))) return outcome
    return { ok: false, failure: { ...outcome.failure, remedy: 'gone' } }
  }

  const telling = hostWith(host, {
    list: async (id, page, signal) => told(await host.list(id, page, signal), id, signal),
    requestUpload: async (request, signal) =>
      told(await host.requestUpload(request, signal), request.album_id, signal),
  })
  return telling
}

function mayMeanLost({ remedy }: HostFailure): boolean {
  return remedy === 'not_permitted' || remedy === 'change_request'
}
