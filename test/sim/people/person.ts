import { forgetFailures } from '../../../src/daemon/commands/sync.ts'
import type { Disk } from '../../../src/local/disk.ts'
import { approved, hurried, kept } from '../../../src/records/escrow.ts'
import {
  missingPictures,
  recordMove,
  recordTrust,
  trustIn,
  whyNotMovedTo,
} from '../../../src/sync/scan/trust.ts'
import { isAtOrBelow } from '../../../src/sync/tree-path.ts'
import type { Tx } from '../../../src/synced/synced.ts'
import type { MirrorRow } from '../../../src/synced/tables/mirrors.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { diskFor, Looks } from '../disk/disk-port.ts'
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

/** A person decides about what waits because it is many. Answers how many that are. */
export function decideMany(world: World, decision: 'approve' | 'discard'): number {
  const { state, oracle, machine } = world
  const many = inEscrow(state.synced).filter(({ many_until }) => many_until !== null)
  if (decision === 'approve') return approve(world, many)
  for (const { image } of many) oracle.keeps(state.synced.images.byId(image)!.remote_id)
  const images = many.map(({ image }) => image)
  state.synced.commitNow(tx => kept(tx, images, machine.wall()))
  return many.length
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

const ELSEWHERE = '/elsewhere'

/** A person moves a mirror's folder and what is recorded of it, and then moves both back. Answers how far that went. */
export function moveMirror(world: World, folder: string): string {
  const { state, disk, machine, oracle } = world
  const { synced } = state
  const view = diskFor(disk, new Looks(() => 0), machine.wall, () => {})
  const moves = (from: string, to: string) => {
    disk.rename(from, to)
    const row = synced.mirrors.of(from)
    const why = row ? whyNotMovedTo(view, synced, row, to) : null
    if (row && why === null) recordMove(synced, row, to)
    return why
  }
  const why = moves(folder, ELSEWHERE)
  if (why === null) {
    if (moves(ELSEWHERE, folder) !== null) oracle.report('moves-back', `${folder} can't be moved back`)
    return `${folder} is moved away and back`
  }
  disk.rename(ELSEWHERE, folder)
  return `${folder} is moved away and back, and its records are not: ${inWords(why)}`
}

/** A person says of all that is in doubt that it is as it should be. Answers how much of it a person's word ends. */
export function trustDoubtful(world: World): number {
  const { state, disk, looks, machine, mirrors, doubts, emptied, copies } = world
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
      isToldWhatGoes(world, view, trust.mirror, path)
      void recordTrust(atOnce, trust)
      trustRoots(doubts, folder, path)
      copies.forget(path === '' ? folder : `${folder}/${path}`)
      emptied.forget(path === '' ? folder : `${folder}/${path}`)
      trusted++
    }
  }
  return trusted
}

/** The person is told which pictures go by that. */
function isToldWhatGoes({ state, disk, oracle }: World, view: Disk, mirror: MirrorRow, path: string): void {
  for (const missing of missingPictures(view, state.synced, mirror, at => isAtOrBelow(at, path)))
    if (disk.find(`${mirror.folder}/${missing.path}`)?.node.kind === 'file')
      oracle.report('foretells', `${mirror.folder}/${missing.path} is said to be missing`)
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

function heldIn(synced: World['state']['synced']) {
  return inEscrow(synced).filter(({ state }) => state === 'held')
}

function inEscrow({ mirrors, escrow }: World['state']['synced']) {
  return mirrors.all().flatMap(({ id }) => escrow.ofMirror(id))
}
