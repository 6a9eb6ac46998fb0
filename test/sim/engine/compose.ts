import { lookAtFolder } from '../../../src/local/look.ts'
import type { Clock } from '../../../src/protocol/clock.ts'
import { ALONE } from '../../../src/sync/claims.ts'
import { FileAges, noteBoot, noteLost, noteOlder } from '../../../src/sync/clock.ts'
import type { EngineContext, EngineSettings, ProcessMemory } from '../../../src/sync/context.ts'
import { AlbumContents } from '../../../src/sync/listing/album-contents.ts'
import { rememberingDelivery, tellingLostAlbums } from '../../../src/sync/listing/index.ts'
import { spoken } from '../../../src/sync/pass-events.ts'
import { VanishedRules } from '../../../src/sync/scan/doubts.ts'
import { IncompletePictures } from '../../../src/sync/uploads/incomplete-pictures.ts'
import { RecoveryPace } from '../../../src/sync/uploads/recovery.ts'
import type { Synced } from '../../../src/synced/synced.ts'
import { diskFor, openerFor } from '../disk/disk-port.ts'
import { tinyReader } from '../disk/real-picture.ts'
import { isAltering } from '../histories/seeds.ts'
import { LIFETIME_MS } from '../histories/variations.ts'
import { HostPort } from '../host/host-port.ts'
import type { Life } from './virtual-clock.ts'
import type { World } from './world.ts'

const NEVER = new AbortController().signal

export const SETTLE_MS = 1000
export const INCOMPLETE = { afterMs: 600_000, action: 'leave' } as const

/** One process: the engine between the virtual disk, host and clock. `knowsLess`: its state is lost or an old one. */
export function compose(world: World, life: Life, knowsLess: boolean): EngineContext {
  const { disk, looks, machine, random, history, host, oracle } = world
  const synced = world.state.of(life, random)
  const running = openedAnew(world, synced, knowsLess)
  const view = diskFor(disk, looks, machine.wall, () => {
    if (!life.dead) life.step('a look')
  })
  const pause = () => life.pause('reading')
  return {
    synced,
    host: tellingLostAlbums(
      rememberingDelivery(
        new HostPort(host, life, world.seat?.watched(oracle) ?? oracle, world.seat?.me ?? 'albumd', what =>
          world.sights.see(what),
        ),
        synced,
      ),
      synced,
      life.clock,
    ),
    disk: view,
    clock: life.clock,
    claims: world.seat?.claims ?? ALONE,
    emit(emitted) {
      oracle.secrecy.event(emitted)
      oracle.secrecy.event(spoken(emitted))
      world.sights.hear(emitted)
      world.closing.hear(emitted)
      world.told?.push(emitted)
      world.hear(() => `    ${emitted.event}: ${saying(emitted)}`)
    },
    lookAt: root => async batch => {
      await life.pause('before a look')
      return batch.map(folder => lookAtFolder(view, root, folder))
    },
    pictures: tinyReader,
    maker: world.stripping.maker(async ms => {
      await life.pause('making')
      if (ms > 0) await life.clock.sleep(ms, NEVER)
    }),
    openPicture: openerFor(
      disk,
      machine.wall,
      pause,
      () => random.chance(0.5),
      world,
      history.setting.endings,
      host.variations.alters !== null || isAltering(history.seed),
    ),
    running,
    ...settingsOf(world),
    ...memoryAtStart(synced, life.clock),
  }
}

/** Does to the records what a process does that begins with them. Answers its running time. */
export function openedAnew(
  { machine, seat, history }: World,
  synced: Synced,
  knowsLess: boolean,
): () => number {
  if (knowsLess) {
    synced.commitNow(tx => {
      noteOlder(tx)
      noteLost(tx, machine.monotonic())
    })
  }
  // The blank makes every start of a lone machine a boot, as its kept histories were found.
  const boot = seat || history.syncs ? `boot-${machine.boot}` : `boot ${machine.boot}`
  synced.commitNow(tx => noteBoot(tx, boot, machine.monotonic()))
  const runBefore = synced.meta.get('running_ms') ?? 0
  const began = machine.monotonic()
  return () => Math.round(runBefore + machine.monotonic() - began)
}

export function settingsOf({ allowance, history }: World): EngineSettings {
  return {
    allowance,
    settleMs: SETTLE_MS,
    graceMs: history.graceMs,
    graceManyMs: history.graceManyMs,
    isDaemon: !history.syncs && (history.graceMs > 0 || history.graceManyMs > 0),
    concurrency: history.concurrency,
    order: history.order,
    hold: history.hold,
    credentialLifetimeMs: LIFETIME_MS,
    uploadForm: history.setting.uploadForm,
  }
}

export function memoryAtStart(synced: Synced, clock: Clock): ProcessMemory {
  return {
    incomplete: new IncompletePictures(INCOMPLETE),
    ages: new FileAges(synced.meta.get('wall_clock')),
    vanishedRules: new VanishedRules(clock),
    contents: new AlbumContents(),
    pace: new RecoveryPace(),
  }
}

function saying(emitted: Record<string, unknown>): string {
  const { event: _, ...rest } = emitted
  return Object.values(rest).join(', ')
}
