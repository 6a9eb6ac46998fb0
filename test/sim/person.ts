import { keepImages } from '../../src/sync/keep-images.ts'
import type { World } from './world.ts'

/** A person lets all held deletions go ahead. Answers how many. */
export function approveHeld({ state: { synced }, oracle }: World): number {
  const held = heldIn(synced)
  for (const { image } of held) {
    synced.escrow.approve(image)
    oracle.approved.add(synced.images.byId(image)!.remote_id)
  }
  return held.length
}

/** A person keeps all images whose deletion is held. Answers how many. */
export function discardHeld({ state: { synced }, oracle, machine }: World): number {
  const held = heldIn(synced)
  for (const { image } of held) oracle.keeps(synced.images.byId(image)!.remote_id)
  keepImages(
    synced,
    held.map(({ image }) => image),
    machine.wall(),
  )
  return held.length
}

function heldIn({ mirrors, escrow }: World['state']['synced']) {
  return mirrors.all().flatMap(({ id }) => escrow.ofMirror(id).filter(({ state }) => state === 'held'))
}
