import type { ListedImage } from '../../protocol/records.ts'
import { isOfThisOne } from '../../remote/failures.ts'
import type { Outcome } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Finding } from '../../synced/tables/audit.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import { because } from '../../words/reasons.ts'
import { recordedAlbums } from '../album.ts'
import type { HostPort } from '../context.ts'
import { canBe, type Walk, walkEverything } from '../listing/index.ts'
import { isLeftOver } from './audit-album.ts'

/** The recorded albums that are a mirror's album or lie below one. Null is the root. */
export function albumsBelowMirrors(synced: Synced): Set<number | null> {
  const found = new Set<number | null>()
  for (const { album } of synced.mirrors.all()) {
    const path = album.split('/').filter(name => name !== '')
    const top = path.length === 0 ? null : recordedAlbums(synced, path).at(-1)
    if (top !== undefined) found.add(top === null ? null : top.id)
  }
  const below = Map.groupBy(synced.albums.all(), ({ parent }) => parent)
  // The loop also visits the albums that it adds.
  for (const album of found) for (const { id } of below.get(album) ?? []) found.add(id)
  return found
}

/** The images of unrecorded albums in an album, and below. Such an album is another person's, or its folder was renamed
 * while the state was lost. `listed`: what the walk of `album` has shown. */
export async function foreignAlbums(
  { synced, host }: HostPort,
  album: number | null,
  listed: Walk['albums'],
  signal: AbortSignal,
): Promise<Outcome<Finding[]>> {
  const findings: Finding[] = []
  const parent = album === null ? null : synced.albums.byId(album)!.remote_id
  for (const top of listed) {
    if (top.parent !== parent || synced.albums.byRemoteId(top.id)) continue
    const walk = await walkEverything(host, signal, top.id)
    // The album is gone, or the host does not show it.
    if (!walk.ok && (isOfThisOne(walk.failure) || walk.failure.remedy === 'gone')) continue
    if (!walk.ok) return walk
    const paths = new Map([[top.id, top.name]])
    for (const { id, name, parent: above } of walk.value.albums) paths.set(id, `${paths.get(above!)}/${name}`)
    const uploads = synced.journal.openUploads()
    for (const image of walk.value.images.filter(image => isForeign(synced, uploads, image))) {
      const name = `${paths.get(image.album!)}/${image.name ?? ''}`
      findings.push({
        kind: 'foreign',
        remote_id: image.id,
        album,
        name,
        detail: because('album_not_recorded'),
      })
    }
  }
  return { ok: true, value: findings }
}

/** Whether albumd has neither recorded nor deleted the image, and none of the uploads in doubt may have sent it. */
function isForeign(synced: Synced, uploads: readonly OpenUpload[], image: ListedImage): boolean {
  const isKnown = synced.images.byRemoteId(image.id) !== undefined || isLeftOver(synced, image)
  return !isKnown && !uploads.some(intent => canBe(image, intent))
}
