import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import type { Config } from '../../../src/config/schema.ts'
import { CommandQueue } from '../../../src/daemon/commands/queue.ts'
import type { Engine } from '../../../src/daemon/engine/engine.ts'
import { Bus } from '../../../src/daemon/events.ts'
import { Loop, type LoopOptions } from '../../../src/daemon/loop/loop.ts'
import type { Recurring } from '../../../src/daemon/loop/schedule.ts'
import type { Hours } from '../../../src/daemon/report/upload-hours.ts'
import type { SpokenEvent } from '../../../src/sync/pass-events.ts'
import type { Interruption, News, Scope } from '../../../src/sync/pass-request.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced, type Synced } from '../../../src/synced/synced.ts'
import { tempFolder } from '../../temp-folder.ts'
import { VirtualClock } from '../virtual-clock.ts'

export const HOUR = 3_600_000

export interface Stage {
  clock: VirtualClock
  synced: Synced
  /** The mirror's id in the records. */
  mirror: number
  /** When each pass began, what it scanned, and whether it could upload. */
  passes: { at: number; scope: Scope; sends: boolean }[]
  /** How many passes tried all of their uploads. */
  whole: () => number
  bus: Bus
  stop: AbortController
  ended: Promise<void>
}

const UPLOADS = { concurrency: 8, order: 'newest', strip: 'none', convert: [] as 'heic'[] } as const

export const PICTURE = { mirror: '/pictures', path: 'a.png' }
export const DELETED: SpokenEvent = { event: 'image_deleted', ...PICTURE, reason: 'deleted', moved_to: null }

const failed = (error: unknown) => error

/** `uploads` publishes the end of a scan and the start of uploads that never end. It resolves when they must pause. */
interface FirstPass {
  uploads: () => Promise<void>
  deletions: (published?: SpokenEvent) => Promise<void>
  /** What a scan does that finds a new folder. */
  findNew: () => void
  clock: VirtualClock
  news: News
}

export interface Given {
  prepare?: (stage: Pick<Stage, 'synced' | 'mirror'>) => void
  first?: (pass: FirstPass) => Promise<void>
  hours?: Hours
  audit?: LoopOptions['audit']
  queue?: CommandQueue
}

/** Is due every `ms` milliseconds. */
function every(ms: number, clock: VirtualClock): Recurring {
  let attended = 0
  return {
    at: () => (Math.floor(attended / ms) + 1) * ms,
    attended() {
      attended = clock.wall()
    },
  }
}

/** The daemon's loop on a virtual clock. Only its first pass does something. */
export function start({
  prepare,
  first,
  hours,
  audit = null,
  queue = new CommandQueue(),
}: Given = {}): Stage {
  const folder = tempFolder()
  const synced = openSynced(openDatabase(':memory:'))
  const { id: mirror } = synced.commitNow(tx => tx.mirrors.add(folder, 'Photos'))
  prepare?.({ synced, mirror })
  const clock = new VirtualClock()
  const policy = { folder, album: 'Photos', deletions: 'propagate' as const, ignore: [] }
  let whole = 0
  const bus = new Bus()
  bus.on('passEnded', () => whole++)
  const passes: Stage['passes'] = []
  const uploads = async ({ stop, pauseUploads }: Interruption) => {
    bus.publish('pass', { event: 'scan_finished', mirror: folder, folders: 1, files: 9, complete: true })
    bus.publish('pass', {
      event: 'uploads_started',
      pictures: 9,
      bytes: 9,
      compare: 0,
      quota_left: 9,
      looks_first: false,
    })
    await once(AbortSignal.any([stop, pauseUploads!]), 'abort')
  }
  const deletions = async ({ stop, pauseDeletions }: Interruption, published = DELETED) => {
    bus.publish('pass', { event: 'scan_started', mirror: folder })
    bus.publish('pass', { event: 'scan_finished', mirror: folder, folders: 1, files: 9, complete: true })
    bus.publish('pass', published)
    await once(AbortSignal.any([stop, pauseDeletions!]), 'abort')
  }
  const engine: Pick<Engine, 'pass'> = {
    async pass(interruption, scopeOf) {
      const sends = !interruption.pauseUploads!.aborted
      passes.push({ at: clock.monotonic(), scope: scopeOf!(policy), sends })
      if (passes.length === 1)
        await first?.({
          uploads: () => uploads(interruption),
          deletions: published => deletions(interruption, published),
          findNew: () => synced.commitNow(tx => tx.folders.add(mirror, 'new')),
          clock,
          news: interruption.news!,
        })
      return { stopped: [] }
    },
  }
  const stop = new AbortController()
  const interruption = { stop: stop.signal, cut: stop.signal }
  const loop = new Loop({
    config: { mirrors: [policy], uploads: { ...UPLOADS, hours } },
    engine,
    interruption,
    synced,
    clock,
    credentialLifetimeMs: 600_000,
    running: clock.monotonic,
    rescan: every(6 * HOUR, clock),
    audit,
    queue,
    bus,
  })
  const { forCommands } = loop
  queue.open({ config: {} as Config, synced, engine: {} as Engine, interruption, loop: forCommands, failed })
  const ended = loop.run()
  onTestFinished(async () => {
    stop.abort()
    await ended
    synced.close()
  })
  return { clock, synced, mirror, passes, whole: () => whole, bus, stop, ended }
}
