import { type HostFailure, hostWith, type ImageHost, type Outcome } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Clock } from '../clock.ts'
import { walkWhole } from './walk.ts'

/**
 * For so many milliseconds a listed album is not looked for again. A host that refuses an album although it lists the album
 * refuses it for each of its pictures.
 */
const BELIEVED = 3_600_000

/**
 * The same host, which also finds out whether a refused album is gone. §4 names no code for an album that is gone, so any
 * refused request may mean that its album is gone. When the album above does not list the album, the failure is told as
 * `gone`, like NOT_FOUND. An example: another person deletes an album, and the host answers the next upload into it with
 * FORBIDDEN.
 */
export function tellingLostAlbums(
  host: ImageHost,
  { albums }: Synced,
  clock: Pick<Clock, 'monotonic'>,
): ImageHost {
  /** By the album's id on the host: until when the album counts as listed, although it was refused. */
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
