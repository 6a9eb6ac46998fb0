import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Daemon } from '../../src/daemon/daemon.ts'
import type { Mirroring } from '../../src/daemon/mirroring.ts'
import type { Interruption } from '../../src/sync/interruption.ts'
import type { Scope } from '../../src/sync/mirror-scans.ts'
import { openDatabase } from '../../src/synced/database.ts'
import { openSynced, type Synced } from '../../src/synced/synced.ts'
import { VirtualClock } from './virtual-clock.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

interface Stage {
  clock: VirtualClock
  synced: Synced
  /** Its row. */
  mirror: number
  /** When each pass began, and where it looked. */
  passes: { at: number; scope: Scope }[]
  /** How many passes tried all that they had to send. */
  whole: () => number
  stop: AbortController
  ended: Promise<void>
}

type Prepare = (stage: Pick<Stage, 'synced' | 'mirror'>) => void
/** `uploads` ends a scan and begins uploads that would never end. It answers when they are to pause. */
type FirstPass = (uploads: () => Promise<void>, clock: VirtualClock) => Promise<void>

/** The daemon's loop on a clock of its own. Only its first pass does something. */
function start(prepare: Prepare = () => {}, firstPass: FirstPass = async () => {}): Stage {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'albumd-daemon-'))
  const synced = openSynced(openDatabase(':memory:'))
  const { id: mirror } = synced.mirrors.add(folder, 'Photos')
  prepare({ synced, mirror })
  const clock = new VirtualClock()
  const policy = { folder, album: 'Photos', deletions: 'propagate' as const, ignore: [] }
  let whole = 0
  const daemon = new Daemon({
    config: { mirrors: [policy] },
    synced,
    clock,
    credentialLifetimeMs: 600_000,
    running: clock.monotonic,
    onPass: () => whole++,
    say() {},
  })
  const passes: Stage['passes'] = []
  const uploads = async ({ stop, pauseUploads }: Interruption) => {
    daemon.hear({ event: 'scan_finished', mirror: folder, folders: 1, files: 9, complete: true })
    daemon.hear({ event: 'uploads_started', pictures: 9, bytes: 9 })
    await once(AbortSignal.any([stop, pauseUploads!]), 'abort')
  }
  const mirroring: Pick<Mirroring, 'pass'> = {
    async pass(interruption, scopeOf) {
      passes.push({ at: clock.monotonic(), scope: scopeOf!(policy) })
      if (passes.length === 1) await firstPass(() => uploads(interruption), clock)
      return { stopped: [] }
    },
  }
  const stop = new AbortController()
  const ended = daemon.run(mirroring, { stop: stop.signal, cut: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await ended
    synced.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { clock, synced, mirror, passes, whole: () => whole, stop, ended }
}

/** One image that is to be given up at a moment of running time. */
function giveUp({ synced, mirror }: Pick<Stage, 'synced' | 'mirror'>, dueAt: number): void {
  const { id: image } = synced.images.put({
    remote_id: 'r1',
    cdn_url: 'https://cdn.example.com/i/r1',
    album: null,
    name: 'a.png',
    hash: Buffer.alloc(32),
    size: 1,
    mime: 'image/png',
    width: 1,
    height: 1,
    proof: 'uploaded',
    recorded_at: 0,
  })
  synced.escrow.put({
    image,
    mirror,
    path: 'a.png',
    reason: 'deleted',
    state: 'grace',
    since: 0,
    due_at: dueAt,
  })
}

describe('the daemon', () => {
  it('looks at everything at first and every six hours, and at nothing between where nothing happens', async () => {
    const { clock, passes } = start()
    await clock.pass(13 * HOUR)
    expect(passes).toEqual([0, 6, 12].map(hour => ({ at: hour * HOUR, scope: 'everything' })))
  })

  it('comes back when a grace ends, and each minute for what is due and can not be done', async () => {
    const { clock, passes } = start(stage => giveUp(stage, 10 * MINUTE))
    await clock.pass(12 * MINUTE + 1)
    expect(passes.map(({ at }) => at)).toEqual([0, 10 * MINUTE, 11 * MINUTE, 12 * MINUTE])
  })

  it('tries a mirror in doubt again each minute', async () => {
    const { clock, passes } = start(({ synced, mirror }) =>
      synced.mirrors.guard(mirror, { code: 'ROOT', reason: 'it is away' }),
    )
    await clock.pass(2 * MINUTE + 1)
    expect(passes.map(({ at }) => at)).toEqual([0, MINUTE, 2 * MINUTE])
  })

  it('pauses the uploads of a backlog for a folder that is stale, and tells of no pass before all was tried', async () => {
    const { clock, passes, whole } = start(
      ({ synced, mirror }) => void synced.folders.add(mirror, 'new'),
      uploads => uploads(),
    )
    await expect
      .poll(async () => {
        await clock.pass(SECOND)
        return passes.length
      })
      .toBe(2)
    // It was found by the scan, and its watch stood while the uploads went on.
    expect(passes[1]!.scope).toEqual(['new'])
    expect(passes[1]!.at).toBeGreaterThanOrEqual(5 * SECOND)
    expect(whole()).toBe(1)
  })

  it('pauses uploads for a deletion whose grace ends', async () => {
    const { clock, passes } = start(
      stage => giveUp(stage, 20 * SECOND),
      uploads => uploads(),
    )
    await clock.pass(20 * SECOND - 1)
    expect(passes).toHaveLength(1)
    await clock.pass(1)
    expect(passes).toHaveLength(2)
  })

  it('leaves uploads as much time as the scans before them took', async () => {
    const { clock, passes } = start(
      stage => giveUp(stage, 20 * SECOND),
      async (uploads, clock) => {
        await clock.sleep(15 * SECOND, new AbortController().signal)
        await uploads()
      },
    )
    await clock.pass(30 * SECOND - 1)
    expect(passes).toHaveLength(1)
    await clock.pass(MINUTE + 1)
    expect(passes).toHaveLength(2)
  })

  it('ends when it is interrupted while it waits', async () => {
    const { clock, stop, ended, passes } = start()
    await clock.pass(HOUR)
    stop.abort()
    await ended
    expect(passes).toHaveLength(1)
  })
})
