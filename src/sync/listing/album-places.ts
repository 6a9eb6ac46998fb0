import { albumListed } from '../../records/albums.ts'
import type { Tx } from '../../synced/synced.ts'
import type { PlacedWalk } from './walk.ts'

/**
 * The rows of the albums that a walk found, by the host's ids; null is the root. Albums that hold images of it and have
 * no row get one, with those above.
 */
export function recordPlaces(tx: Tx, walk: PlacedWalk): Map<string | null, number | null> {
  const places = new Map<string | null, number | null>([[null, null]])
  const byId = new Map(walk.albums.map(album => [album.id, album]))

  function placeOf(id: string | null): number | null {
    const known = places.get(id)
    if (known !== undefined) return known
    const row = tx.albums.byRemoteId(id!)
    const { parent, name } = byId.get(id!)!
    const place = (row ?? albumListed(tx, placeOf(parent), name, id!)).id
    places.set(id, place)
    return place
  }

  for (const { album } of walk.images) placeOf(album)
  return places
}
