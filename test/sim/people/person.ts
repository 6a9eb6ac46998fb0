import { approved, kept } from '../../../src/records/escrow.ts'
import { recordTrust, trustIn } from '../../../src/sync/scan/trust.ts'
import type { Tx } from '../../../src/synced/synced.ts'
import { diskFor } from '../disk/disk-port.ts'
import type { World } from '../engine/world.ts'
import type { Doubts } from '../judges/doubts.ts'

/** A person lets all held deletions go ahead. Answers how many. */
export function approveHeld({ state: { synced }, oracle, machine }: World): number {
  const held = heldIn(synced)
  for (const { image } of held) oracle.approved.add(synced.images.byId(image)!.remote_id)
  const images = held.map(({ image }) => image)
  synced.commitNow(tx => approved(tx, images, machine.wall()))
  return held.length
}

/** A person keeps all images whose deletion is held. Answers how many. */
export function discardHeld({ state: { synced }, oracle, machine }: World): number {
  const held = heldIn(synced)
  for (const { image } of held) oracle.keeps(synced.images.byId(image)!.remote_id)
  const images = held.map(({ image }) => image)
  synced.commitNow(tx => kept(tx, images, machine.wall()))
  return held.length
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
