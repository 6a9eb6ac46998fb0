import { alterationOf, recordedImage } from '../../../src/daemon/restore/altered.ts'
import { Refusal } from '../../../src/host/refusal.ts'
import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import { given } from '../../../src/records/images.ts'
import { mayArriveFor } from '../../../src/sync/clock.ts'
import { realOf } from '../disk/real-picture.ts'
import { bytesOf, isHalf } from '../disk/tiny-picture.ts'
import { hashOf, split } from '../disk/tree.ts'
import { rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'
import type { ActionKind } from '../histories/history.ts'
import { LIFETIME_MS } from '../histories/variations.ts'
import { altered } from '../host/alterations.ts'
import { pathOfAlbum } from '../host/host-truth.ts'
import { CHECKING_ACTIONS } from './actions.ts'
import { make, placeOf } from './locations.ts'
import { approveHalf, approveHeld, decideMany, discardHeld, moveMirror, retryFailed } from './person.ts'

/** Odd, so that no two jumps bring back the very moment of another time. */
const JUMPS = [3_661_777, -3_661_777, 90_061_313, -90_061_313, 120_007, -120_007]

/** Mostly less than what is under way takes to arrive at the latest. */
const downFor = (b: number) => [2 * LIFETIME_MS, 20_000, 1000][b % 3]!

/** What becomes of the host, the machine and the process. */
export const HOST_ACTIONS: Partial<Record<ActionKind, (world: World, a: number, b: number) => string>> = {
  clockJump(world, a) {
    const by = JUMPS[a % JUMPS.length]!
    world.machine.offset += by
    world.moments.clockIsSet()
    return `the clock is set ${by > 0 ? 'forward' : 'back'} by ${Math.abs(by)} ms`
  },
  reboot(world, a) {
    world.kill(20_000 + (a % 60_000))
    world.machine.reboot()
    return 'the machine starts anew'
  },
  kill(world, a, b) {
    world.kill(b % 4 === 0 ? a % 1_500_000 : a % 3000)
    return 'the process is killed'
  },
  end(world, a) {
    world.passes.end(a % 3 === 0 ? 0 : a % 2000)
    return 'the process is asked to end'
  },
  pauseUploads(world) {
    world.passes.pauseUploads()
    return 'uploads pause'
  },
  pause(world, a, b) {
    const until = a % 3 === 0 ? null : world.machine.wall() + 1000 * (1 + (b % 20_000))
    world.passes.ask(() => world.pausing.pause(until))
    return `a person pauses albumd${until === null ? '' : ` for ${until - world.machine.wall()} ms`}`
  },
  resume(world) {
    world.passes.ask(() => world.pausing.resume())
    return 'a person lets albumd go on'
  },
  prune(world) {
    world.passes.ask(() => world.pruning.ask())
    return 'a person has albumd give up what rules hide'
  },
  saveState(world) {
    world.saved.save()
    return 'the state is saved'
  },
  restoreState(world, _, b) {
    return world.saved.restore(downFor(b)) ? 'the saved state is restored' : 'nothing'
  },
  loseState(world, _, b) {
    world.saved.lose(downFor(b))
    return 'the state is lost'
  },
  fault: (world, a, b) => world.host.faults.add(a, b),
  turnAway: (world, a, b) => world.host.faults.turnAway(a, b),
  hostCloses: (world, a) => world.host.faults.close(a),
  hostOpens(world) {
    world.host.faults.closed = null
    return 'the host refuses nothing any more'
  },
  quota(world, a) {
    world.host.lowerQuota(a % 3)
    return `the host takes ${a % 3} more pictures today`
  },
  quotaBack(world) {
    world.host.quota = Number.POSITIVE_INFINITY
    return 'the quota is back'
  },
  restoreDelivered(world) {
    void bringBackDelivered(world)
    return 'a restore brings back what the host delivers in the place of deleted pictures'
  },
  planGrows(world) {
    world.host.makesAlbums = true
    return 'the account gets a plan with albums'
  },
  otherUploads(world, a, b) {
    const path = placeOf(world, a)
    return upload(world, path, theirPicture(b))
  },
  otherLookAlike(world, a, b) {
    const files = world.tree.files()
    const path = files[a % files.length]
    if (path === undefined) return 'nothing'
    const bytes = Buffer.from(world.tree.fileAt(path)!.bytes)
    if (bytes.length < 12 || isHalf(bytes)) return 'nothing'
    // Mostly other bytes; sometimes the very same picture.
    if (b % 4 !== 0) bytes.writeUInt32LE(400 + (b % 9), 8)
    return upload(world, path, bytes)
  },
  otherDeletes(world, a) {
    const images = world.host.truth.live()
    const image = images[a % images.length]
    if (!image) return 'nothing'
    world.other(world.host.deleteImage(image.id, 'other'))
    return `another person deletes image ${image.id.slice(0, 6)} (${pathOfAlbum(image.album)}/${image.name})`
  },
  otherAlbum(world, a) {
    const albums = world.host.truth.liveAlbums()
    const album = albums[a % albums.length]
    const name = album?.name ?? 'Photos'
    try {
      world.host.makeAlbum(name, album?.parent?.id ?? null, 'other')
    } catch (error) {
      // Its parent may be gone on the host and still be shown.
      if (!(error instanceof Refusal)) throw error
      return 'nothing'
    }
    return `another person makes a second album ${name}`
  },
  otherMoves(world, a, b) {
    const images = world.host.truth.live()
    const image = images[a % images.length]
    const albums = [null, ...world.host.truth.liveAlbums()]
    if (!image) return 'nothing'
    const before = `${pathOfAlbum(image.album)}/${image.name}`
    if (b % 3 === 0) world.host.place(image, image.album, 'renamed.gif')
    else world.host.place(image, albums[b % albums.length]!, image.name)
    return `another person moves image ${image.id.slice(0, 6)} (${before}) to ${pathOfAlbum(image.album)}/${image.name}`
  },
  otherFolder(world, a, b) {
    const albums = world.host.truth.liveAlbums()
    const album = albums[a % albums.length]
    if (!album) return 'nothing'
    try {
      const { id } = world.host.makeAlbum('Theirs', album.id, 'other')
      world.other(world.host.upload(id, 'x.gif', theirPicture(b)))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return 'nothing'
    }
    return `another person makes an album in ${pathOfAlbum(album)}, with an image in it`
  },
  otherDeletesAlbum(world, a) {
    const albums = world.host.truth.liveAlbums()
    const album = albums[a % albums.length]
    if (!album) return 'nothing'
    if (world.host.variations.strays) {
      // A process that has seen an album asks for it no more, and what is young may be listed late.
      const isYoung = world.time.now - album.at < mayArriveFor(LIFETIME_MS)
      if (world.passes.isUnderWay || isYoung) return 'nothing'
      world.endProcess()
    }
    world.other(world.host.deleteAlbum(album.id, 'other'))
    return `another person deletes the album ${pathOfAlbum(album)}`
  },
  approve: world => `a person approves ${approveHeld(world)} deletions`,
  approveHalf: world => `a person approves half of what is held: ${approveHalf(world)}`,
  retry(world) {
    world.passes.ask(() => retryFailed(world))
    world.passes.onlyRetry()
    return 'a person has what failed tried again'
  },
  otherPlan(world) {
    // Another config takes another session.
    if (world.passes.isUnderWay) return 'nothing'
    world.endProcess()
    world.allowance.plan = world.allowance.plan === 'flagship' ? 'professional' : 'flagship'
    world.oracle.quota.restored(null)
    return `the config names the plan ${world.allowance.plan}`
  },
  moveMirror(world, a) {
    if (world.passes.isUnderWay) return 'nothing'
    world.endProcess()
    return moveMirror(world, world.mirrors[a % world.mirrors.length]!.folder)
  },
  compareLinks(world) {
    world.passes.alsoCompareLinks()
    return 'a person has what is linked compared'
  },
  adopt(world) {
    world.passes.onlyAdopt()
    return 'a person has what the host holds adopted, and nothing sent'
  },
  approveMany: world => `a person approves ${decideMany(world, 'approve')} deletions that wait as many`,
  discardMany: world => `a person keeps ${decideMany(world, 'discard')} images that wait as many`,
  discard: world => `a person keeps ${discardHeld(world)} images that were to go`,
  wait(world, a) {
    world.waitLonger(1000 * (1 + (a % 100_000)))
    return 'time passes'
  },
  ...CHECKING_ACTIONS,
}

/** For the judges the images have the restored bytes then. */
async function bringBackDelivered(world: World): Promise<void> {
  const { disk, history, mirrors, state, trash, truth } = world
  for (const [path, { mtime }] of [...trash]) {
    const id = rowAt(state.synced, mirrors, path)?.image ?? 0
    const image = state.synced.images.byId(id)
    const remote = image && truth.images.get(image.remote_id)
    if (!remote || disk.find(path) || !make(world, path)) continue
    const bytes = altered(remote.bytes, history.variations.alters)
    const real = sourceOfBytes(realOf(bytes)!)
    const alteration = (await alterationOf(recordedImage(state.synced, image), real))!
    const hash = hashOf(bytes)
    const delivered = { hash: Buffer.from(hash, 'hex'), size: bytes.length, ...alteration }
    state.synced.commitNow(tx => given(tx, [{ remote_id: remote.id, ...delivered }]))
    disk.write(path, bytes, { mtime })
    remote.hash = hash
    trash.delete(path)
  }
}

function theirPicture(b: number): Buffer {
  return bytesOf({ format: 'gif', width: 9, height: 9, version: 300 + (b % 9), size: 50 })
}

/** Into the album where the picture of this path belongs, as far as it is there. */
function upload(world: World, path: string, bytes: Buffer): string {
  const wanted = world.albumPathOf(split(path).folder)
  const albums = world.host.truth.liveAlbums().filter(album => pathOfAlbum(album) === wanted)
  if (wanted !== '' && albums.length === 0) return 'nothing'
  world.other(world.host.upload(albums[0]?.id ?? null, split(path).name, bytes))
  return `another person uploads ${wanted}/${split(path).name}`
}
