import { createHash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import type { OpenPicture } from '../../../src/local/picture-file.ts'
import { FileAges } from '../../../src/sync/clock.ts'
import { IncompletePictures } from '../../../src/sync/uploads/incomplete-pictures.ts'
import { openSettled } from '../../../src/sync/uploads/settled-picture.ts'
import type { FileRow } from '../../../src/synced/tables/files.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { VirtualClock } from '../../daemon/virtual-clock.ts'

const SETTLE_MS = 1000
const WROTE_AT = 1_800_000_000_123
const never = new AbortController().signal

interface Opening {
  /** When the file was written to before it was opened, beside `WROTE_AT`. */
  wroteAt?: number
  bytes?: string
  /** whole: closed, and not early. */
  verdict?: 'closed' | 'whole' | 'missing'
  size?: number
}

/** A file that was last written to at `WROTE_AT`, looked at `age` later, and is as the openings find it. */
function stage({
  age = 10,
  standing = null,
  knowsClock = true,
  made = 0,
  renamed = 0,
  wasCut = false,
  isRemote = false,
  format = 'gif',
  ...first
}: Stage = {}) {
  const clock = new VirtualClock()
  clock.jump(WROTE_AT + age)
  const wroteAt = first.wroteAt ?? WROTE_AT
  const openings: number[] = []
  let now: Required<Opening> = { bytes: 'a', verdict: 'closed', size: 0, ...first, wroteAt }
  let open = 0
  const file = {
    ctime: wroteAt * 1000,
    ino: 7,
    size: now.size,
    image: standing === null ? null : 5,
  } as FileRow
  const opened = openSettled(
    {
      disk: { isRemote: folder => isRemote && folder === '/r' },
      settleMs: SETTLE_MS,
      clock,
      incomplete: Object.assign(new IncompletePictures({ afterMs: 0, action: 'leave' }), {
        wasJustMissing: () => wasCut,
      }),
      ages: new FileAges(
        knowsClock ? { offset: clock.wall() - clock.monotonic(), setAt: Number.NEGATIVE_INFINITY } : null,
      ),
      async openPicture() {
        openings.push(Math.round(clock.monotonic()))
        open++
        return {
          look: {
            size: now.size,
            mtime: now.wroteAt * 1000 - renamed,
            ctime: now.wroteAt * 1000,
            ino: 7,
          },
          bornAt: (wroteAt - made) * 1000,
          hash: hashOf(now.bytes),
          picture: { format },
          verdict:
            now.verdict === 'missing'
              ? { kind: 'missing' }
              : { kind: 'closed', early: now.verdict === 'closed' },
          close: () => void open--,
        } as OpenPicture
      },
    },
    { file, root: '/r', path: 'a.png' },
    standing === null ? null : hash => hash.equals(hashOf(standing)),
    never,
  )
  let at: number | null = null
  const outcome = opened.then(result => {
    if ('kind' in result) return inWords(result.message)
    at = Math.round(clock.monotonic())
    return 'open'
  })
  return {
    clock,
    openings,
    outcome,
    openedAt: () => at,
    left: () => open,
    becomes: (next: Opening) => {
      now = { ...now, ...next }
    },
  }
}

/** `standing`: the bytes that stand for it on the host. */
interface Stage extends Opening {
  age?: number
  standing?: string | null
  knowsClock?: boolean
  isRemote?: boolean
  /** How long before it was written to. */
  made?: number
  /** So many microseconds after it was last written to. */
  renamed?: number
  /** An earlier look found something missing. */
  wasCut?: boolean
  format?: 'gif' | 'png'
}

function hashOf(bytes: string): Buffer {
  return createHash('sha256').update(bytes).digest()
}

describe('a picture', () => {
  it('that is new and ends where its format ends is opened once, 50 ms after it was written', async () => {
    const { clock, openings, openedAt } = stage()
    await clock.pass(5000)
    expect(openings).toEqual([40])
    expect(openedAt()).toBe(40)
  })

  it('that is large waits longer before it is read: 10 ms for each megabyte', async () => {
    const { clock, openings } = stage({ size: 30_000_000 })
    await clock.pass(5000)
    expect(openings).toEqual([340])
  })

  it.each([
    ['may go on behind its end', { verdict: 'whole' }],
    ['was known before', { standing: 'older' }],
    ['was made long before it was last written to', { made: 60_000 }],
    ['was made long ago and renamed while it was written', { made: 60_000, renamed: 9 }],
  ] as [string, Stage][])('that %s waits the full time, and is read twice', async (_, what) => {
    const { clock, openings, openedAt, left } = stage(what)
    await clock.pass(5000)
    expect(openings).toHaveLength(2)
    expect(openedAt()).toBe(SETTLE_MS - 10)
    expect(left()).toBe(1)
  })

  it.each([
    ['renamed when it had rested', { renamed: SETTLE_MS * 1000 }],
    ['cut when it was read a moment ago', { wasCut: true }],
  ])('that was made long ago and %s rests for a moment only', async (_, what) => {
    const { clock, openings } = stage({ made: 60_000, ...what })
    await clock.pass(5000)
    expect(openings).toEqual([40])
  })

  it.each([
    ['without check sums rests five times as long', 'gif', 5 * SETTLE_MS],
    ['with check sums rests as any', 'png', SETTLE_MS],
  ] as const)('that was written over in place %s', async (_, format, restMs) => {
    const { clock, openings } = stage({ standing: 'older', made: 60_000, format })
    await clock.pass(9000)
    expect(openings).toEqual([0, restMs - 10])
  })

  it('that has a time in whole seconds may be younger, and is not taken to be settled by that', async () => {
    const { clock, openings } = stage({ wroteAt: WROTE_AT - 123, age: SETTLE_MS })
    await clock.pass(5000)
    expect(openings).toEqual([50, 50 + SETTLE_MS])
  })

  it('whose bytes stand on the host already is not waited for', async () => {
    const { clock, openings, openedAt } = stage({ standing: 'a', verdict: 'whole' })
    await clock.pass(5000)
    expect(openings).toEqual([0])
    expect(openedAt()).toBe(0)
  })

  it('that was written longer ago is opened at once', async () => {
    const { clock, openings } = stage({ age: SETTLE_MS, verdict: 'whole', standing: 'older' })
    await clock.pass(5000)
    expect(openings).toEqual([0])
  })

  it('is not older than the clock is known', async () => {
    const { clock, openings } = stage({ age: 100_000, knowsClock: false, verdict: 'whole' })
    await clock.pass(5000)
    expect(openings).toEqual([50, SETTLE_MS])
  })

  it.each([
    ['ends where its format ends rests as long', 'closed', 60],
    ['may go on behind its end waits the full time', 'whole', SETTLE_MS + 10],
  ] as const)('that was written to since the scan and %s from there', async (_, verdict, second) => {
    const { clock, openings, outcome, becomes } = stage({ verdict })
    becomes({ wroteAt: WROTE_AT + 20 })
    await clock.pass(5000)
    expect(openings).toEqual([40, second])
    expect(await outcome).toBe('open')
  })

  it('that was written to since the scan, and has rested since then, is read again without a wait', async () => {
    const { clock, openings, becomes } = stage({ made: 500 })
    const sleep = vi.spyOn(clock, 'sleep')
    becomes({ wroteAt: WROTE_AT - 200 })
    await clock.pass(5000)
    expect(openings).toEqual([40, 40])
    expect(sleep.mock.calls.map(([ms]) => ms)).toEqual([0])
  })

  it.each([
    ['its bytes', { bytes: 'b' }],
    ['its time', { wroteAt: WROTE_AT + 500 }],
  ])('whose second look shows that %s changed is still being written', async (_, next) => {
    const { clock, outcome, becomes, left } = stage({ verdict: 'whole' })
    await clock.pass(500)
    becomes(next)
    await clock.pass(5000)
    expect(await outcome).toBe('file is still being written')
    expect(left()).toBe(0)
  })

  it('that is cut is not waited for', async () => {
    const { clock, openings, outcome } = stage({ verdict: 'missing' })
    await clock.pass(100)
    expect(await outcome).toBe('open')
    expect(openings).toEqual([40])
  })
})

describe('a picture on a disk of another machine, whose clock may be behind', () => {
  const behind = { isRemote: true, age: 10_000 }

  it('waits as one that was written just now', async () => {
    const { clock, openings, openedAt } = stage({ ...behind, verdict: 'whole' })
    await clock.pass(5000)
    expect(openings).toEqual([50, 50 + SETTLE_MS])
    expect(openedAt()).toBe(50 + SETTLE_MS)
  })

  it('is not opened while it is written to', async () => {
    const { clock, outcome, becomes } = stage({ ...behind, standing: 'older' })
    await clock.pass(500)
    becomes({ wroteAt: WROTE_AT + 400, bytes: 'b' })
    await clock.pass(5000)
    expect(await outcome).toBe('file is still being written')
  })

  it('that was written long ago is opened at once', async () => {
    const { clock, openings } = stage({ isRemote: true, age: 300_000, verdict: 'whole' })
    await clock.pass(5000)
    expect(openings).toEqual([0])
  })
})
