import { isOurs } from '../../src/sync/audit/audit-repair.ts'
import { Oracle } from './oracle.ts'
import { recordedAt } from './state-kit.ts'
import type { World } from './world.ts'

/** The oracle of a world. `running`: true time that albumd ran, in milliseconds. */
export function oracleOf(world: World, running: () => number): Oracle {
  const { disk, looks, sources, mirrors, grounds, pruning, allowance, machine, pausing, time } = world
  const { hold, variations, order, concurrency, albumDeletions } = world.history
  const { synced, findSecret } = world.state
  return new Oracle({
    disk,
    looks,
    sources,
    mirrors,
    hold,
    variations,
    grounds,
    pruning,
    allowance,
    order,
    concurrency,
    findSecret,
    running,
    graceMs: world.history.graceMs,
    wall: machine.wall,
    wholeAlbums: albumDeletions === 'recursive',
    isOurs: id => isOurs(synced, { remote_id: id }),
    guardOf: folder => synced.mirrors.of(folder)?.guard ?? null,
    isPaused: () => pausing.holdsAt(machine.wall()),
    now: () => time.now,
    recordOf: path => recordedAt(synced, mirrors, path),
    isLinked: id => synced.images.byRemoteId(id)?.proof === 'none',
    mayBeDeleted(id) {
      const image = synced.images.byRemoteId(id)
      return image !== undefined && synced.journal.deletionOf(image.id) !== undefined
    },
  })
}
