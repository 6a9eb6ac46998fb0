import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CommandContext } from '../../../src/daemon/commands/command.ts'
import { CommandQueue, ENDED } from '../../../src/daemon/commands/queue.ts'
import type { LoopOptions } from '../../../src/daemon/loop/loop.ts'
import type { SpokenEvent } from '../../../src/sync/pass-events.ts'
import { said } from '../../../src/words/reasons.ts'
import { FILE, IMAGE } from '../../synced/rows.ts'

import { DELETED, type Given, HOUR, PICTURE, type Stage, start } from './loop-stage.ts'

const MINUTE = HOUR / 60
const SECOND = MINUTE / 60

/** An image in escrow whose grace ends at this running time. */
function giveUp({ synced, mirror }: Pick<Stage, 'synced' | 'mirror'>, due_at: number): void {
  const { id: image } = synced.commitNow(tx => tx.images.put(IMAGE))
  synced.commitNow(tx =>
    tx.escrow.put({ image, mirror, path: 'a.png', reason: 'deleted', state: 'grace', since: 0, due_at }),
  )
}

/** A picture whose upload is pending. */
function pending({ synced, mirror }: Pick<Stage, 'synced' | 'mirror'>): void {
  const { id: folder } = synced.commitNow(tx => tx.folders.add(mirror, ''))
  synced.commitNow(tx => tx.files.put({ ...FILE, folder }))
}

/** Lets time pass until there were so many passes. */
function untilPasses({ clock, passes }: Pick<Stage, 'clock' | 'passes'>, count: number) {
  const passed = async () => {
    await clock.pass(SECOND)
    return passes.length
  }
  return expect.poll(passed).toBeGreaterThanOrEqual(count)
}

/** The uploads pause after five seconds, because the scan found a new folder. The next pass scans it and is complete. */
async function expectLookAtNew({ clock, passes, whole }: Stage): Promise<void> {
  await untilPasses({ clock, passes }, 2)
  expect(passes[1]!.scope).toEqual(['new'])
  expect(passes[1]!.at).toBeGreaterThanOrEqual(5 * SECOND)
  expect(whole()).toBe(1)
}

describe('the daemon', () => {
  it('scans everything at first and every six hours, and nothing in between without events', async () => {
    const { clock, passes } = start()
    await clock.pass(13 * HOUR)
    expect(passes).toEqual([0, 6, 12].map(hour => ({ at: hour * HOUR, scope: 'everything', sends: true })))
  })

  it('scans a recorded folder once when it starts, and then when something changes there', async () => {
    let folder = ''
    const { clock, passes } = start({
      prepare({ synced, mirror }) {
        folder = join(synced.mirrors.all()[0]!.folder, 'a')
        mkdirSync(folder)
        for (const path of ['', 'a']) synced.commitNow(tx => tx.folders.add(mirror, path))
      },
    })
    await expect.poll(() => passes.length).toBe(1)
    await clock.pass(HOUR)
    writeFileSync(join(folder, 'a.png'), '')
    await untilPasses({ clock, passes }, 2)
    expect(passes[1]!.at).toBeGreaterThanOrEqual(HOUR)
    expect(passes[1]!.scope).toEqual(['a'])
  })

  it("makes a pass when a grace ends, and each minute while something due can't be done", async () => {
    const { clock, passes } = start({ prepare: stage => giveUp(stage, 10 * MINUTE) })
    await clock.pass(12 * MINUTE + 1)
    expect(passes.map(({ at }) => at)).toEqual([0, 10 * MINUTE, 11 * MINUTE, 12 * MINUTE])
  })

  it('makes a pass at once when deletions that waited may go on', async () => {
    const { clock, passes, bus } = start()
    await clock.pass(MINUTE)
    bus.publish('doubtEnded', undefined)
    await clock.pass(MINUTE)
    expect(passes.map(({ at }) => at)).toEqual([0, MINUTE])
  })

  it('tries a mirror in doubt again each minute', async () => {
    const { clock, passes } = start({
      prepare: ({ synced, mirror }) =>
        synced.commitNow(tx => tx.mirrors.guard(mirror, { code: 'ROOT', reason: said('it is away') })),
    })
    await clock.pass(2 * MINUTE + 1)
    expect(passes.map(({ at }) => at)).toEqual([0, MINUTE, 2 * MINUTE])
  })

  it('pauses the uploads of a backlog for a stale folder, and publishes passEnded only after all uploads were tried', async () => {
    await expectLookAtNew(
      start({
        first({ findNew, uploads }) {
          findNew()
          return uploads()
        },
      }),
    )
  })

  it('pauses uploads for a deletion whose grace ends', async () => {
    const prepare: Given['prepare'] = stage => giveUp(stage, 20 * SECOND)
    const { clock, passes } = start({ prepare, first: ({ uploads }) => uploads() })
    await clock.pass(20 * SECOND - 1)
    expect(passes).toHaveLength(1)
    await clock.pass(1)
    expect(passes).toHaveLength(2)
  })

  it('pauses uploads for such a deletion also while folders become stale all the time', async () => {
    const { clock, passes } = start({
      prepare: stage => giveUp(stage, 20 * SECOND),
      async first({ uploads, clock, news }) {
        const add = () => news.add('/pictures', ['new'])
        news.scan = async () => {
          await clock.sleep(100, new AbortController().signal)
          add()
        }
        add()
        await uploads()
      },
    })
    await clock.pass(21 * SECOND)
    expect(passes).toHaveLength(2)
  })

  it.each<SpokenEvent>([
    DELETED,
    { event: 'image_kept', ...PICTURE, reason: 'the host refused' },
    { event: 'album_deleted', album: 'Photos/a' },
  ])('pauses deletions for a stale folder: $event', async published => {
    await expectLookAtNew(
      start({
        first({ findNew, deletions }) {
          findNew()
          return deletions(published)
        },
      }),
    )
  })

  it('pauses deletions soon for a stale folder though scans beside the uploads took long', async () => {
    const stage = start({
      async first({ uploads, clock, deletions, findNew }) {
        void uploads()
        await clock.sleep(MINUTE, new AbortController().signal)
        // Publishes the end of a scan once more.
        void uploads()
        findNew()
        await deletions()
      },
    })
    await stage.clock.pass(MINUTE)
    await expectLookAtNew(stage)
    expect(stage.passes[1]!.at).toBeLessThan(2 * MINUTE)
  })

  it('goes on with deletions while no folder is stale', async () => {
    const { clock, passes } = start({ first: ({ deletions }) => deletions() })
    await clock.pass(HOUR)
    expect(passes).toHaveLength(1)
  })

  it('gives uploads at least as much time as the scans before them took', async () => {
    const { clock, passes } = start({
      prepare: stage => giveUp(stage, 20 * SECOND),
      async first({ uploads, clock }) {
        await clock.sleep(15 * SECOND, new AbortController().signal)
        await uploads()
      },
    })
    await clock.pass(30 * SECOND - 1)
    expect(passes).toHaveLength(1)
    await clock.pass(MINUTE + 1)
    expect(passes).toHaveLength(2)
  })

  it('uploads only within uploads.hours, pauses when they end, and goes on when they begin', async () => {
    const hours = { from: 22 * 60, to: 5 * 60 }
    const { clock, passes } = start({ first: ({ uploads }) => uploads(), hours })
    await clock.pass(5 * HOUR - 1)
    expect(passes).toHaveLength(1)
    await clock.pass(18 * HOUR)
    expect(passes.map(({ at, sends }) => [at / HOUR, sends])).toEqual([
      [0, true],
      [5, false],
      [6, false],
      [12, false],
      [18, false],
      [22, true],
    ])
  })

  it('does not try pictures each minute that wait for uploads.hours', async () => {
    const { clock, passes } = start({ prepare: pending, hours: { from: 2 * 60, to: 3 * 60 } })
    await clock.pass(2 * HOUR - 1)
    expect(passes).toHaveLength(1)
    await clock.pass(MINUTE + 1)
    expect(passes.map(({ at, sends }) => [at / MINUTE, sends])).toEqual([
      [0, false],
      [120, true],
      [121, true],
    ])
  })

  it('makes a pass after the wall clock has jumped, for example because the machine slept', async () => {
    const { clock, passes } = start()
    await clock.pass(HOUR)
    clock.jump(5 * HOUR)
    await clock.pass(MINUTE)
    // A third pass follows when the new watch of the root begins, in the real time of inotify, after the second pass.
    expect(passes.slice(0, 2).map(({ scope }) => scope)).toEqual(['everything', 'everything'])
  })

  it('goes on with a due audit while nothing else is due, and interrupts it for other work', async () => {
    const legs: { from: number; to: number }[] = []
    const audit: LoopOptions['audit'] = {
      dueMs: () => (legs.length < 2 ? 0 : HOUR),
      async goOn({ stop }, rest) {
        const from = clock.monotonic()
        await rest(stop)
        legs.push({ from, to: clock.monotonic() })
        return true
      },
    }
    const { clock, passes } = start({ prepare: stage => giveUp(stage, 10 * MINUTE), audit })
    await clock.pass(11 * MINUTE + 1)
    expect(passes.map(({ at }) => at)).toEqual([0, 10 * MINUTE, 11 * MINUTE])
    expect(legs).toEqual([
      { from: 0, to: 10 * MINUTE },
      { from: 10 * MINUTE, to: 11 * MINUTE },
    ])
  })

  it('makes the passes that a command asks for, and scans everything for a whole one', async () => {
    const queue = new CommandQueue()
    const { clock, passes } = start({ queue })
    await clock.pass(MINUTE)
    const carryOut = async ({ giveWay, pass }: CommandContext) => {
      await giveWay()
      return pass()
    }
    const asked = queue.ask({ carryOut }, null)
    await clock.pass(SECOND)
    expect(await asked).toEqual({ stopped: [] })
    expect(passes.map(({ at, scope }) => ({ at, scope }))).toEqual([
      { at: 0, scope: 'everything' },
      { at: MINUTE, scope: [] },
      { at: MINUTE, scope: 'everything' },
      { at: MINUTE, scope: [] },
    ])
  })

  it('pauses the pass of a command for another command, and goes on with it afterwards', async () => {
    const queue = new CommandQueue()
    const steps: string[] = []
    const ask = (name: string, work: (context: CommandContext) => Promise<unknown>) =>
      void queue.ask({ carryOut: work }, null).then(() => steps.push(name))
    ask('sync', ({ pass }) => pass())
    const { clock, passes } = start({ first: ({ uploads }) => uploads(), queue })
    await clock.pass(SECOND)
    ask('approve', async () => {})
    await clock.pass(SECOND)
    expect(steps).toEqual(['approve', 'sync'])
    expect(passes.slice(0, 2).map(({ scope }) => scope)).toEqual(['everything', []])
  })

  it('refuses a command whose pass was interrupted', async () => {
    const queue = new CommandQueue()
    const refused = expect(queue.ask({ carryOut: ({ pass }) => pass() }, null)).rejects.toBe(ENDED)
    const { clock, stop } = start({ first: ({ uploads }) => uploads(), queue })
    await clock.pass(SECOND)
    stop.abort()
    await refused
  })

  it('ends when it is interrupted while it rests', async () => {
    const { clock, stop, ended, passes } = start()
    await clock.pass(HOUR)
    stop.abort()
    await ended
    expect(passes).toHaveLength(1)
  })
})
