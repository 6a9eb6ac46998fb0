import type { Synced } from '../../synced/synced.ts'

/**
 * Keeps images for good that were to be given up. A picture that comes back with the same bytes finds its image again.
 * Belongs into a commit. `now`: milliseconds since 1970.
 */
export function keepImages(
  { escrow, files, history, images: records }: Synced,
  images: readonly number[],
  now: number,
): void {
  for (const image of images) {
    history.ofImage(image, { at: now, event: 'kept', detail: 'its image stays on the host for good' })
    records.keep(image)
    escrow.takeBack(image)
    for (const file of files.onImage(image)) if (file.state === 'gone') files.setState(file, 'kept', now)
  }
}
