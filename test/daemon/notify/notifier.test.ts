import { describe, expect, it, onTestFinished } from 'vitest'
import type { DaemonEvent } from '../../../src/daemon/events.ts'
import { type Alert, waitsAlert } from '../../../src/daemon/notify/health.ts'
import { Notifier, type NotifySession } from '../../../src/daemon/notify/notifier.ts'
import { VirtualClock } from '../virtual-clock.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

const trouble = (code: string, about = ''): Alert => ({
  key: `${code} ${about}`,
  code,
  message: `${code} in words`,
})

function keep(): NotifySession['told'] {
  let kept: string | null = null
  return {
    get: () => kept,
    set: keys => {
      kept = keys
    },
  }
}

/** A notifier with a virtual clock, whose heartbeats and commands are recorded. */
function start(told = keep(), commandMs = 0) {
  const clock = new VirtualClock()
  const beats: { at: number; age: number }[] = []
  const commands: { at: number; event: string; code: string; message: string }[] = []
  const notes: DaemonEvent[] = []
  const failed = new Map<string, string | null>()
  const stage = { alerts: [] as Alert[], problem: null as string | null, broken: false }
  const stop = new AbortController()
  const notify = { heartbeat: 'https://hc.example.com/x', every: 5 * MINUTE, on_trouble: 'tell-me' }
  const notifier = new Notifier({
    notify,
    clock,
    note: event => notes.push(event),
    async beat(_, age) {
      beats.push({ at: clock.monotonic(), age })
      return stage.problem
    },
    async runCommand(_, { ALBUMD_EVENT: event = '', ALBUMD_CODE: code = '', ALBUMD_MESSAGE: message = '' }) {
      commands.push({ at: clock.monotonic(), event, code, message })
      if (commandMs > 0) await clock.sleep(commandMs, stop.signal)
      return stop.signal.aborted ? 'albumd ended' : stage.problem
    },
  })
  const ended = notifier.run(stop.signal)
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
  const look = () => {
    if (stage.broken) throw new Error('the state can not be read')
    return { alerts: stage.alerts, oldestUnsyncedMs: 7000 }
  }
  notifier.lookAt(look, { notify, told, failed: (bell, problem) => failed.set(bell, problem) })
  return {
    clock,
    beats,
    commands,
    failed,
    notes,
    stage,
    notifier,
    async stop() {
      stop.abort()
      await ended
    },
    /** Changes the alerts, and lets the notifier look. */
    async happens(...alerts: Alert[]) {
      stage.alerts = alerts
      notifier.nudge()
      await clock.pass(10 * SECOND)
    },
  }
}

describe('the heartbeat', () => {
  it('is sent at once and then at every interval, with the age of the oldest unsynced picture', async () => {
    const { clock, beats } = start()
    await clock.pass(11 * MINUTE)
    expect(beats).toEqual([0, 5, 10].map(minute => ({ at: minute * MINUTE, age: 7000 })))
  })

  it('is not sent while there is an alert, and is sent at once when the alert ends', async () => {
    const { clock, beats, happens } = start()
    await clock.pass(MINUTE)
    await happens(trouble('GUARDED'))
    await clock.pass(20 * MINUTE)
    expect(beats).toHaveLength(1)
    await happens()
    expect(beats).toHaveLength(2)
  })

  it("is not sent while the health can't be read", async () => {
    const { clock, beats, stage } = start()
    stage.broken = true
    await clock.pass(30 * MINUTE)
    expect(beats).toEqual([])
  })

  it('that fails is logged once, and the first that arrives again is logged too', async () => {
    const { clock, notes, stage } = start()
    stage.problem = 'ECONNREFUSED'
    await clock.pass(30 * MINUTE)
    expect(notes).toEqual([{ event: 'heartbeat_failed', message: 'ECONNREFUSED' }])
    stage.problem = null
    await clock.pass(30 * MINUTE)
    expect(notes.slice(1)).toEqual([{ event: 'heartbeat_works' }])
  })
})

describe('notify.on_trouble', () => {
  it('runs when the alerts begin, change and end, and not while they stay the same', async () => {
    const { clock, commands, happens } = start()
    await happens(trouble('GUARDED'))
    await clock.pass(30 * MINUTE)
    await happens(trouble('GUARDED'), trouble('HELD'))
    await clock.pass(30 * MINUTE)
    await happens()
    expect(commands.map(({ event, code }) => [event, code])).toEqual([
      ['trouble', 'GUARDED'],
      ['trouble', 'GUARDED'],
      ['resolved', ''],
    ])
    expect(commands[1]!.message).toBe('GUARDED in words\nHELD in words')
  })

  it('runs at most once a minute, with the alerts of that moment', async () => {
    const { clock, commands, happens } = start()
    await happens(trouble('A'))
    await happens(trouble('B'))
    await happens(trouble('C'))
    await clock.pass(MINUTE)
    expect(commands.map(({ code }) => code)).toEqual(['A', 'C'])
    expect(commands[1]!.at - commands[0]!.at).toBe(MINUTE)
  })

  it('does not run for an alert that began and ended within the minute', async () => {
    const { clock, commands, happens } = start()
    await happens(trouble('A'))
    await happens(trouble('A'), trouble('B'))
    await happens(trouble('A'))
    await clock.pass(10 * MINUTE)
    expect(commands).toHaveLength(1)
  })

  it('never runs twice at a time', async () => {
    const { clock, commands, happens } = start(keep(), 5 * MINUTE)
    await happens(trouble('A'))
    await happens(trouble('B'))
    await clock.pass(3 * MINUTE)
    expect(commands).toHaveLength(1)
    await clock.pass(3 * MINUTE)
    expect(commands.map(({ code }) => code)).toEqual(['A', 'B'])
  })

  it('does not run again after a restart for alerts that were told before it, and runs when they end', async () => {
    const told = keep()
    await start(told).happens(trouble('GUARDED'))
    const again = start(told)
    await again.happens(trouble('GUARDED'))
    expect(again.commands).toEqual([])
    await again.happens()
    expect(again.commands.map(({ event }) => event)).toEqual(['resolved'])
  })

  it('runs again after the next start when the end of albumd cut it off', async () => {
    const told = keep()
    const first = start(told, MINUTE / 2)
    await first.happens(trouble('GUARDED'))
    await first.stop()
    const again = start(told)
    await again.happens(trouble('GUARDED'))
    expect([...first.commands, ...again.commands].map(({ code }) => code)).toEqual(['GUARDED', 'GUARDED'])
  })

  it("runs when the state can't be opened, and when it works again", async () => {
    const { clock, commands, notifier } = start()
    notifier.lookAt(
      () => ({ alerts: [waitsAlert('STATE_FULL', 'the disk is full')], oldestUnsyncedMs: 0 }),
      null,
    )
    await clock.pass(2 * MINUTE)
    const told = keep()
    notifier.lookAt(() => ({ alerts: [], oldestUnsyncedMs: 0 }), {
      notify: { every: MINUTE, on_trouble: 'x' },
      told,
      failed() {},
    })
    await clock.pass(MINUTE)
    expect(commands.map(({ event, code, message }) => [event, code, message])).toEqual([
      ['trouble', 'STATE', 'the disk is full'],
      ['resolved', '', 'all is well again'],
    ])
  })

  it('that fails is logged once, and runs again every five minutes until it succeeds', async () => {
    const { clock, notes, commands, failed, stage, happens } = start()
    stage.problem = 'it ended with 127'
    await happens(trouble('A'))
    expect(failed.get('trouble_command_failed')).toBe('it ended with 127')
    await clock.pass(20 * MINUTE)
    const minutes = commands.map(({ at }) => Math.round((at - commands[0]!.at) / MINUTE))
    expect(minutes).toEqual([0, 5, 10, 15, 20])
    stage.problem = null
    await clock.pass(30 * MINUTE)
    expect(failed.get('trouble_command_failed')).toBe(null)
    expect(commands).toHaveLength(6)
    await happens()
    expect(commands.map(({ event }) => event).slice(6)).toEqual(['resolved'])
    expect(notes.filter(({ event }) => !event.startsWith('heartbeat'))).toEqual([
      expect.objectContaining({ event: 'trouble' }),
      { event: 'trouble_command_failed', message: 'it ended with 127' },
      { event: 'trouble_resolved' },
    ])
  })

  it('runs at once for the next change after it failed, and not for trouble that it never told', async () => {
    const { clock, notes, commands, stage, happens } = start()
    stage.problem = 'it ended with 127'
    await happens(trouble('A'))
    stage.problem = null
    await happens(trouble('B'))
    await clock.pass(MINUTE)
    expect(commands.map(({ code }) => code)).toEqual(['A', 'B'])
    await happens()
    await clock.pass(MINUTE)
    stage.problem = 'it ended with 127'
    await happens(trouble('C'))
    await clock.pass(MINUTE)
    await happens()
    await clock.pass(MINUTE)
    expect(commands.map(({ code }) => code)).toEqual(['A', 'B', '', 'C'])
    expect(notes.at(-1)).toEqual({ event: 'trouble_resolved' })
  })

  it('runs again after a failure when albumd starts', async () => {
    const told = keep()
    const first = start(told)
    first.stage.problem = 'it ended with 127'
    await first.happens(trouble('A'))
    await first.stop()
    const again = start(told)
    await again.happens(trouble('A'))
    expect(again.commands).toHaveLength(1)
  })

  it('gets a message without control characters, and with a limited number of lines', async () => {
    const { commands, happens } = start()
    const many = Array.from({ length: 20 }, (_, n) => ({
      ...trouble('A', `${n}`),
      message: 'a\n\u001b[2J\0.png',
    }))
    await happens(...many)
    const lines = commands[0]!.message.split('\n')
    expect(lines).toHaveLength(11)
    expect(lines[0]).toBe('a\\u000a\\u001b[2J\\u0000.png')
    expect(lines.at(-1)).toBe('and 10 more')
  })
})
