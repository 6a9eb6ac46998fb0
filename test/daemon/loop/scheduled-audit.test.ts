import { once } from 'node:events'
import { expect, it } from 'vitest'
import type { AuditResult } from '../../../src/daemon/commands/audit.ts'
import { scheduledAudit } from '../../../src/daemon/loop/schedule.ts'
import type { HostFailure } from '../../../src/remote/host.ts'
import { said } from '../../../src/words/reasons.ts'
import { VirtualClock } from '../virtual-clock.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const NEVER = new AbortController().signal
const UNTIL_STOPPED = { stop: NEVER, cut: NEVER }

const RESULT: AuditResult = {
  finished: true,
  complete: true,
  albums: 2,
  skipped: [],
  findings: [],
  withheld: 0,
  stopped: [],
}

/** An audit of albums that take this long each. An album that is interrupted begins again. Due until attended. */
function open(albumsMs: readonly number[], failure: HostFailure | null = null) {
  const clock = new VirtualClock()
  const told: string[] = []
  let at = 0
  let done = 0
  const audit = scheduledAudit({
    clock,
    schedule: {
      at: () => at,
      attended() {
        at = Number.POSITIVE_INFINITY
      },
    },
    async audit({ stop, cut }) {
      if (failure) return { ...RESULT, finished: false, stopped: [failure] }
      for (; done < albumsMs.length; done++) {
        if (stop.aborted) return { ...RESULT, finished: false }
        await clock.sleep(albumsMs[done]!, cut)
        if (cut.aborted) return { ...RESULT, finished: false }
      }
      return RESULT
    },
    onEnd: () => told.push('ended'),
    onFailure: ({ code }) => told.push(code),
  })
  return { clock, audit, told, done: () => done }
}

const until = (due: AbortSignal) => async (ended: AbortSignal) => {
  const either = AbortSignal.any([due, ended])
  if (!either.aborted) await once(either, 'abort')
}

/** Goes on with the audit. After `afterMs` something else is due. Answers how long the audit went on. */
async function goOn({ clock, audit }: ReturnType<typeof open>, afterMs: number): Promise<number> {
  const began = clock.monotonic()
  const elsewhere = new AbortController()
  let took = -1
  void audit.goOn(UNTIL_STOPPED, until(elsewhere.signal)).then(() => {
    took = clock.monotonic() - began
  })
  await clock.pass(afterMs)
  elsewhere.abort()
  for (let waited = 0; took < 0 && waited < 10 * MINUTE; waited += SECOND) await clock.pass(SECOND)
  return took
}

it('is due no more once it has ended', async () => {
  const stage = open([SECOND, SECOND])
  expect(await goOn(stage, 3 * SECOND)).toBe(2 * SECOND)
  expect(stage.told).toEqual(['ended'])
  expect(stage.audit.dueMs()).toBeGreaterThan(0)
})

it('ends an album that is under way before other work, unless it takes long, and goes on with it later', async () => {
  const stage = open([10 * SECOND, 40 * SECOND])
  expect(await goOn(stage, 3 * SECOND)).toBe(10 * SECOND)
  expect(stage.done()).toBe(1)
  expect(await goOn(stage, 3 * SECOND)).toBe(33 * SECOND)
  expect(stage.done()).toBe(1)
  expect(stage.told).toEqual([])
  expect(stage.audit.dueMs()).toBeLessThanOrEqual(0)
  expect(await goOn(stage, 50 * SECOND)).toBe(40 * SECOND)
  expect(stage.told).toEqual(['ended'])
})

it('goes on after a while when the host could not be asked', async () => {
  const failure = {
    remedy: 'later',
    endpoint: 'list',
    code: 'UNREACHABLE',
    message: said('no answer'),
  } as const
  const stage = open([], failure as unknown as HostFailure)
  await goOn(stage, 0)
  expect(stage.audit.dueMs()).toBeGreaterThan(0)
  await stage.clock.pass(15 * MINUTE)
  expect(stage.audit.dueMs()).toBeLessThanOrEqual(0)
  expect(stage.told).toEqual(['UNREACHABLE'])
})

it.each(['plan', 'key'] as const)(
  'waits for its next scheduled time where the %s forbids listing',
  async remedy => {
    const stage = open([], { remedy, endpoint: 'list', code: 'FORBIDDEN', message: said('no') })
    await goOn(stage, 0)
    await stage.clock.pass(60 * MINUTE)
    expect(stage.told).toEqual(['FORBIDDEN'])
    expect(stage.audit.dueMs()).toBeGreaterThan(0)
  },
)
