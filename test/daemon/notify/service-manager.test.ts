import { describe, expect, it } from 'vitest'
import {
  type Notice,
  notifySystemd,
  openServiceManager,
  ServiceManager,
} from '../../../src/daemon/notify/service-manager.ts'
import { VirtualClock } from '../virtual-clock.ts'

const MINUTE = 60_000

function manager(watchdogMs: number | null = null, answer: string | null = null) {
  const clock = new VirtualClock()
  const told: Notice[] = []
  const said: string[] = []
  const send = async (notice: Notice) => {
    told.push(notice)
    return answer
  }
  const subject = new ServiceManager({ send, clock, watchdogMs, say: line => void said.push(line) })
  return { clock, told, said, subject }
}

describe('the notices to a service manager', () => {
  it("tell each change of the daemon's state once, in order", async () => {
    const { clock, told, subject } = manager()
    await clock.pass(1234.5)
    subject.reloading()
    subject.ready()
    subject.ready()
    subject.reloading()
    subject.ready()
    subject.stopping()
    subject.stopping()
    subject.ready()
    await subject.settled()
    expect(told).toEqual([
      { READY: '1' },
      { RELOADING: '1', MONOTONIC_USEC: '1234500' },
      { READY: '1' },
      { STOPPING: '1' },
    ])
  })

  it('hold a sign of life for work that is done, no more often than needed, and none without work', async () => {
    const { clock, told, subject } = manager(16 * MINUTE)
    expect(subject.signEveryMs).toBe(4 * MINUTE)
    for (let n = 0; n < 60; n++) {
      subject.alive()
      await clock.pass(MINUTE)
    }
    await subject.settled()
    expect(told).toEqual(Array.from({ length: 30 }, () => ({ WATCHDOG: '1' })))
    await clock.pass(60 * MINUTE)
    await subject.settled()
    expect(told).toHaveLength(30)
  })

  it('hold no sign of life where the service manager has no watchdog', async () => {
    const { told, subject } = manager(null)
    subject.alive()
    await subject.settled()
    expect(told).toEqual([])
  })

  it('may fail, and then one line says so', async () => {
    const { said, subject } = manager(null, 'no such socket')
    subject.ready()
    subject.stopping()
    await subject.settled()
    expect(said).toEqual(["the service manager can't be told how albumd is: no such socket"])
  })
})

describe('a service manager', () => {
  const clock = new VirtualClock()
  const open = (env: NodeJS.ProcessEnv) => openServiceManager(env, clock, () => {})

  it('is found by NOTIFY_SOCKET in the environment', () => {
    expect(open({ WATCHDOG_USEC: '1000000' })).toBeNull()
    expect(open({ NOTIFY_SOCKET: '/run/notify' })?.signEveryMs).toBe(Number.POSITIVE_INFINITY)
  })

  it('has a watchdog for this process only where WATCHDOG_PID is this process', () => {
    const env = { NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '8000000' }
    expect(open({ ...env, WATCHDOG_PID: String(process.pid) })?.signEveryMs).toBe(2000)
    expect(open({ ...env, WATCHDOG_PID: '1' })?.signEveryMs).toBe(Number.POSITIVE_INFINITY)
  })

  it("can't be told anything where systemd-notify is missing", async () => {
    expect(await notifySystemd({ READY: '1' }, { NOTIFY_SOCKET: '/run/notify', PATH: '/nowhere' })).toContain(
      'there is no systemd-notify',
    )
  })
})
