import { describe, expect, it } from 'vitest'
import type { Config } from '../../../src/config/schema.ts'
import { type CommandContext, type CommandOutput, Refused } from '../../../src/daemon/commands/command.ts'
import { CommandQueue, ENDED, type Session } from '../../../src/daemon/commands/queue.ts'
import type { Engine } from '../../../src/daemon/engine/engine.ts'
import { fingerprintOf } from '../../../src/daemon/state/claim.ts'
import type { SpokenEvent } from '../../../src/sync/pass-events.ts'
import { StateError } from '../../../src/synced/state-error.ts'
import type { Synced } from '../../../src/synced/synced.ts'
import { parse, SHORTEST } from '../../config/config-text.ts'

const never = new AbortController().signal
const output: CommandOutput = { emit() {}, say() {}, progress() {} }
const report = { stopped: [] }

function openQueue(loop: Partial<Session['loop']> = {}, stop = never): CommandQueue {
  const queue = new CommandQueue()
  queue.open({
    config: {} as Config,
    synced: {} as Synced,
    engine: {} as Engine,
    interruption: { stop, cut: never },
    loop: { pass: async () => report, othersWait: () => false, giveWay: () => queue.carryOut(), ...loop },
    failed: error => error,
  })
  return queue
}

const ask = (queue: CommandQueue, carryOut: (means: CommandContext) => Promise<unknown>, heard = output) =>
  queue.ask({ carryOut }, null, { output: heard, left: never })

describe('commands in the queue', () => {
  it('are carried out one after the other', async () => {
    const queue = openQueue()
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

  it('hear of the pass that they need', async () => {
    const heard: SpokenEvent[] = []
    const queue = openQueue({
      async pass() {
        queue.emit({ event: 'album_created', album: 'a' })
        return report
      },
    })
    const asked = ask(queue, ({ pass }) => pass(), { ...output, emit: emitted => void heard.push(emitted) })
    await queue.carryOut()
    expect(await asked).toBe(report)
    queue.emit({ event: 'album_created', album: 'b' })
    expect(heard).toEqual([{ event: 'album_created', album: 'a' }])
  })

  it('that take long give way to other commands', async () => {
    const queue = openQueue()
    const steps: string[] = []
    const long = ask(queue, async ({ giveWay }) => {
      steps.push('long')
      await giveWay()
      steps.push('long again')
    })
    const short = ask(queue, async () => steps.push('short'))
    await queue.carryOut()
    expect(steps).toEqual(['long', 'short', 'long again'])
    await Promise.all([long, short])
  })

  it('wait while the daemon takes another config', async () => {
    const ending = new AbortController()
    const queue = openQueue({}, ending.signal)
    const { session } = queue
    // The daemon reads the config when the command arrives, and ends the session for it.
    queue.renewKey = async () => ending.abort()
    const config = parse(SHORTEST)
    const asker = { output, config: fingerprintOf(config) }
    const later = queue.ask({ carryOut: async () => 'done' }, null, asker)
    await expect.poll(() => queue.asked.aborted).toBe(true)
    queue.leave()
    queue.open({ ...session!, config })
    await queue.carryOut()
    expect(await later).toBe('done')
  })

  it('have a state that failed tried again, and are answered by what comes of the try', async () => {
    const queue = openQueue()
    const { session } = queue
    const full = new Refused('STATE_FULL', 'no room')
    queue.leave()
    queue.close(full)
    const still = expect(ask(queue, async () => 'done')).rejects.toBe(full)
    expect(queue.asked.aborted).toBe(true)
    queue.close(full)
    await still
    expect(queue.asked.aborted).toBe(false)
    const later = ask(queue, async () => 'done')
    queue.open(session!)
    await queue.carryOut()
    expect(await later).toBe('done')
    queue.close(ENDED)
    await expect(ask(queue, async () => 'done')).rejects.toBe(ENDED)
  })

  it('that need the host wait until the key of that moment is taken', async () => {
    const queue = openQueue()
    const steps: string[] = []
    queue.renewKey = async () => void steps.push('key')
    const carryOut = async () => void steps.push('work')
    const asked = [queue.ask({ carryOut, needsHost: true }, null), queue.ask({ carryOut }, null)]
    await expect.poll(() => queue.asked.aborted).toBe(true)
    await Promise.resolve()
    await queue.carryOut()
    await Promise.all(asked)
    expect(steps.toSorted()).toEqual(['key', 'work', 'work'])
    expect(steps[0]).toBe('key')
  })

  it('are dropped when their asker has gone before they began', async () => {
    const queue = openQueue()
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
    const queue = openQueue()
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
