import type { ListedImage } from '../../protocol/records.ts'
import type { Synced } from '../../synced/synced.ts'

/** The listed images that no record of ours accounts for. What albumd deleted may be listed for a while. */
export function unaccountedIn<Image extends ListedImage>(
  { images, deleted }: Synced,
  listed: readonly Image[],
): Image[] {
  return listed.filter(({ id }) => !images.byRemoteId(id) && !deleted.has(id))
}

/** Whether the host lists images under the names that they were uploaded with, as far as ours show. */
export function namesAreKept({ images }: Synced, listed: readonly ListedImage[]): boolean {
  return listed.every(({ id, name }) => {
    const ours = name === undefined ? undefined : images.byRemoteId(id)
    return ours?.proof !== 'uploaded' || ours.name.normalize() === name!.normalize()
  })
}
