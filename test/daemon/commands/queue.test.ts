import { describe, expect, it } from 'vitest'
import type { Config } from '../../../src/config/schema.ts'
import type { CommandContext, CommandOutput } from '../../../src/daemon/commands/command.ts'
import { CommandQueue, NotNow } from '../../../src/daemon/commands/queue.ts'
import type { Engine } from '../../../src/daemon/engine/engine.ts'
import type { SpokenEvent } from '../../../src/sync/pass-events.ts'
import { StateError } from '../../../src/synced/state-error.ts'
import type { Synced } from '../../../src/synced/synced.ts'

const never = new AbortController().signal
const output: CommandOutput = { tell() {}, say() {}, progress() {} }
const report = { stopped: [] }

function openErrands(): CommandQueue {
  const queue = new CommandQueue()
  queue.open({
    config: {} as Config,
    synced: {} as Synced,
    engine: {} as Engine,
    interruption: { stop: never, cut: never },
    failed: error => error,
  })
  return queue
}

const ask = (queue: CommandQueue, carryOut: (means: CommandContext) => Promise<unknown>, heard = output) =>
  queue.ask({ carryOut }, null, { output: heard, left: never })

describe('commands in the queue', () => {
  it('are carried out one after the other', async () => {
    const queue = openErrands()
    const steps: string[] = []
    const slow = ask(queue, async () => {
      steps.push('first begins')
      await Promise.resolve()
      steps.push('first ends')
    })
    const quick = ask(queue, async () => steps.push('second'))
    expect(queue.asked.aborted).toBe(true)
    expect(steps).toEqual([])
    await queue.carryOut()
    expect(steps).toEqual(['first begins', 'first ends', 'second'])
    await Promise.all([slow, quick])
    expect(queue.asked.aborted).toBe(false)
  })

  it('that need a pass have everything scanned once, and wait until that pass has ended', async () => {
    const queue = openErrands()
    let done = false
    const heard: SpokenEvent[] = []
    const asked = ask(
      queue,
      async means => {
        await means.pass({ pruneIgnored: true })
        done = true
      },
      { ...output, tell: told => void heard.push(told) },
    )
    await queue.carryOut()
    expect(queue.needs()).toEqual({ asked: true, everything: true, options: { pruneIgnored: true } })
    queue.tell({ event: 'album_created', album: 'a' })
    await queue.passed(report, false)
    expect(done).toBe(false)
    expect(queue.needs()).toEqual({ asked: true, everything: false, options: { pruneIgnored: true } })
    await queue.passed(report, true)
    expect(done).toBe(true)
    await asked
    queue.tell({ event: 'album_created', album: 'b' })
    expect(heard).toEqual([{ event: 'album_created', album: 'a' }])
    expect(queue.needs()).toEqual({ asked: false, everything: false, options: { pruneIgnored: false } })
  })

  it('that take long give way to other commands and to changes on the disk', async () => {
    const queue = openErrands()
    const steps: string[] = []
    const long = ask(queue, async means => {
      steps.push('long')
      expect(means.othersWait()).toBe(true)
      await means.giveWay()
      steps.push('long again')
    })
    const short = ask(queue, async () => steps.push('short'))
    await queue.carryOut()
    expect(steps).toEqual(['long', 'short'])
    // A command that gave way goes on after any pass, also one that paused.
    await queue.passed(report, false)
    expect(steps).toEqual(['long', 'short', 'long again'])
    await Promise.all([long, short])
    let waits = true
    queue.isBusy = () => true
    const alone = ask(queue, async means => {
      waits = means.othersWait()
    })
    await queue.carryOut()
    await alone
    expect(waits).toBe(true)
  })

  it('wait while the daemon takes another config, and are refused when they have begun', async () => {
    const queue = openErrands()
    const begun = ask(queue, means => means.pass())
    await queue.carryOut()
    const refused = expect(begun).rejects.toMatchObject({ code: 'DAEMON_ENDED' })
    queue.leave(new NotNow('DAEMON_ENDED', 'another config'))
    await refused
    const later = ask(queue, async () => 'done')
    queue.open({ ...openErrands().session! })
    await queue.carryOut()
    expect(await later).toBe('done')
  })

  it('are dropped when their asker has gone before they began', async () => {
    const queue = openErrands()
    const leaving = new AbortController()
    let begun = false
    const carryOut = async () => {
      begun = true
    }
    void queue.ask({ carryOut }, null, { output, left: leaving.signal })
    leaving.abort()
    await queue.carryOut()
    expect(begun).toBe(false)
  })

  it('that find the state failed tell both the asker and the loop', async () => {
    const queue = openErrands()
    const full = new StateError('STATE_FULL', 'no room')
    const asked = expect(ask(queue, () => Promise.reject(full))).rejects.toBe(full)
    await expect(queue.carryOut()).rejects.toBe(full)
    await asked
    const refused = ask(queue, () => Promise.reject(new Error('no such thing')))
    const heard = expect(refused).rejects.toThrow('no such thing')
    await queue.carryOut()
    await heard
  })
})
