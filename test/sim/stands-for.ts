import { pathOfAlbum, type TrueImage } from './host-truth.ts'
import type { LivePicture } from './live-pictures.ts'
import { split } from './tree.ts'
import type { World } from './world.ts'

/** Whether an image is the one of a picture, as far as its bytes and its place tell. */
export function standsFor(world: World, image: TrueImage, { path, node }: LivePicture): boolean {
  if (image.hash !== node.hash) return false
  const { oneId, without, depthMax, defaultAlbum } = world.history.variations
  if (oneId) return true
  const { folder, name } = split(path)
  if (image.name !== name) return false
  const anywhere =
    without.includes('create_album') ||
    depthMax < 10 ||
    defaultAlbum !== null ||
    world.host.faults.albumRefused
  return anywhere || pathOfAlbum(image.album) === world.albumPathOf(folder)
}
