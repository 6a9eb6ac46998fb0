import { forgetFailures } from '../../../src/daemon/commands/sync.ts'
import { approved, hurried, kept } from '../../../src/records/escrow.ts'
import { recordTrust, trustIn } from '../../../src/sync/scan/trust.ts'
import type { Tx } from '../../../src/synced/synced.ts'
import { diskFor } from '../disk/disk-port.ts'
import type { World } from '../engine/world.ts'
import type { Doubts } from '../judges/doubts.ts'

/** A person lets all held deletions go ahead. Answers how many. */
export function approveHeld(world: World): number {
  return approve(world, heldIn(world.state.synced))
}

function approve({ state: { synced }, oracle, machine }: World, held: ReturnType<typeof heldIn>): number {
  for (const { image } of held) oracle.approved.add(synced.images.byId(image)!.remote_id)
  const images = held.map(({ image }) => image)
  synced.commitNow(tx => approved(tx, images, machine.wall()))
  return held.length
}

/** A person lets every other held deletion go ahead, and the first in any case. Answers how many. */
export function approveHalf(world: World): number {
  return approve(
    world,
    heldIn(world.state.synced).filter((_, at) => at % 2 === 0),
  )
}

/** A person keeps all images whose deletion is held. Answers how many. */
export function discardHeld({ state: { synced }, oracle, machine }: World): number {
  const held = heldIn(synced)
  for (const { image } of held) oracle.keeps(synced.images.byId(image)!.remote_id)
  const images = held.map(({ image }) => image)
  synced.commitNow(tx => kept(tx, images, machine.wall()))
  return held.length
}

/** A person has what failed tried again. */
export function retryFailed({ state, parts, mirrors, oracle }: World): void {
  const { synced } = state
  const atOnce = { ...synced, commit: async <T>(change: (tx: Tx) => T) => synced.commitNow(change) }
  void forgetFailures({ mirrors }, atOnce)
  for (const { endpoint } of parts?.host.blocks() ?? []) parts!.host.unblock(endpoint)
  if (synced.escrow.postponed().length > 0 && parts) synced.commitNow(tx => hurried(tx, parts.running()))
  oracle.quota.restored(null)
}

/** A person says of all that is in doubt that it is as it should be. Answers how much of it a person's word ends. */
export function trustDoubtful({ state, disk, looks, machine, mirrors, doubts, emptied }: World): number {
  const { synced } = state
  const atOnce = { ...synced, commit: async <T>(change: (tx: Tx) => T) => synced.commitNow(change) }
  const view = diskFor(disk, looks, machine.wall, () => {})
  let trusted = 0
  for (const { folder } of mirrors) {
    const row = synced.mirrors.of(folder)
    if (!row?.guard) continue
    for (const path of ['', ...synced.folders.unknown(row.id).map(doubt => doubt.path)]) {
      const trust = trustIn(view, synced, row, path)
      if (trust.kind !== 'root' && trust.kind !== 'folder') continue
      void recordTrust(atOnce, trust)
      trustRoots(doubts, folder, path)
      emptied.forget(path === '' ? folder : `${folder}/${path}`)
      trusted++
    }
  }
  return trusted
}

function trustRoots({ otherRoot, trusted, lostMount, ignoreGone }: Doubts, root: string, path: string): void {
  if (path === '') {
    otherRoot.delete(root)
    trusted.add(root)
  }
  const place = path === '' ? root : `${root}/${path}`
  for (const mount of lostMount.keys()) if (`${mount}/`.startsWith(`${place}/`)) lostMount.delete(mount)
  for (const at of ignoreGone.keys()) if (`${at}/`.startsWith(`${place}/`)) ignoreGone.delete(at)
}

function heldIn({ mirrors, escrow }: World['state']['synced']) {
  return mirrors.all().flatMap(({ id }) => escrow.ofMirror(id).filter(({ state }) => state === 'held'))
}
