import { expect, it } from 'vitest'
import { ENDPOINTS } from '../../../src/protocol/endpoints.ts'
import type { Kind, Passed } from '../stage/fault-proxy.ts'
import { expectInSync, type LeapingStage, passUntilDone, setLeapingStage } from '../stage/fault-stage.ts'
import { inParallel } from '../stage/in-parallel.ts'
import { startAlbumd } from '../stage/process.ts'
import { People } from './kill-people.ts'
import { type Chance, chanceFrom, DeletionWatch } from './kill-watch.ts'

const KILLS = Number(process.env.ALBUMD_KILLS ?? 40)
const SEED = Number(process.env.ALBUMD_KILL_SEED ?? 1)
const STAGES = 5

/** When a process is killed: so long after a moment, or just when the nth request of a kind has come or is served. */
type Moment =
  | { after: 'start' | 'request'; ms: number }
  | { at: 'seen' | 'served'; kind: Kind | null; nth: number }

/** Milliseconds after a process's first request, or its start, when it is killed though its moment has not come. */
const PATIENCE_MS = { request: 2500, deletion: 8000, start: 20_000 }

function someMoment(chance: Chance): Moment {
  const way = chance.below(6)
  if (way < 2) return { after: way === 0 ? 'start' : 'request', ms: chance.below(1500) }
  const kind = way < 4 ? null : chance.of(ENDPOINTS)!
  return { at: chance.of(['seen', 'served'] as const)!, kind, nth: 1 + chance.below(kind ? 3 : 20) }
}

/** Calls `kill` at the moment, with what it was. `watch` hears of all requests meanwhile. */
function atMoment(
  { proxy }: LeapingStage,
  watch: DeletionWatch,
  moment: Moment,
  kill: (how: string) => void,
): Disposable {
  const timers: NodeJS.Timeout[] = []
  const killAfter = (ms: number, how: string) => void timers.push(setTimeout(kill, ms, how))
  // They come last in a pass.
  const forDeletion = 'at' in moment && moment.kind === 'delete'
  let requests = 0
  let left = 'nth' in moment ? moment.nth : 0
  const count = (at: 'seen' | 'served', { kind }: Passed) => {
    if (requests++ === 0) {
      killAfter(PATIENCE_MS[forDeletion ? 'deletion' : 'request'], 'when it had waited')
      if ('ms' in moment && moment.after === 'request')
        killAfter(moment.ms, 'milliseconds after its first request')
    }
    if ('at' in moment && moment.at === at && (moment.kind ?? kind) === kind && --left === 0)
      kill(`${kind} ${at}`)
  }
  killAfter(PATIENCE_MS.start, 'when it had waited')
  if ('ms' in moment && moment.after === 'start') killAfter(moment.ms, 'milliseconds after its start')
  proxy.onSeen = passed => {
    watch.seen(passed)
    count('seen', passed)
  }
  proxy.onServed = passed => {
    watch.served(passed)
    count('served', passed)
  }
  return { [Symbol.dispose]: () => timers.forEach(clearTimeout) }
}

/** Starts the program and kills it. Answers when that was, or null where it came to its end before. */
async function killOnce(stage: LeapingStage, watch: DeletionWatch, chance: Chance): Promise<string | null> {
  const moment = someMoment(chance)
  let killed: string | null = null
  const command = chance.below(4) === 0 ? 'sync' : 'run'
  const albumd = startAlbumd(stage, [command], { env: stage.env })
  using _ = atMoment(stage, watch, moment, how => {
    killed ??= `${command}, ${how}`
    albumd.kill('SIGKILL')
  })
  const { code, signal } = await albumd.ended
  if (signal === null && code !== 0 && code !== 3)
    throw new Error(`${command} ended with ${code}: ${albumd.err()}`)
  // What it had sent is passed on.
  await stage.proxy.quiet()
  return signal === 'SIGKILL' ? killed : null
}

it(`killed at ${KILLS} moments while pictures come, change, move and go, both sides are equal in the end (seed ${SEED})`, {
  timeout: 900_000,
}, async () => {
  const survived = new Map<string, number>()
  const done = new Map<string, number>()
  let toCome = KILLS
  await inParallel(STAGES, [...Array(STAGES).keys()], async n => {
    const chance = chanceFrom(SEED * 1000 + n)
    let people!: People
    const stage = await setLeapingStage({
      onDisk: true,
      deletions: { grace: '0s', grace_many: '0s' },
      before({ pictures }) {
        people = new People(pictures, chanceFrom(SEED * 1000 + 500 + n))
        for (let edit = 0; edit < 10; edit++) people.edit()
      },
    })
    const editing = setInterval(() => people.edit(), 120)
    let editsBefore = 0
    const watch = new DeletionWatch(() => people.standingSince(editsBefore))
    for (const passed of stage.proxy.log) watch.served(passed)
    try {
      while (toCome > 0) {
        // To a process whose clocks are ahead no picture is fresh. So the first processes are without leaps.
        if (toCome <= KILLS / 2 && chance.below(2)) await stage.leap()
        editsBefore = people.edits
        const how = await killOnce(stage, watch, chance)
        if (how === null) continue
        toCome--
        survived.set(how, (survived.get(how) ?? 0) + 1)
      }
    } finally {
      clearInterval(editing)
    }
    editsBefore = people.edits
    await passUntilDone(stage)
    expect(watch.violations).toEqual([])
    await expectInSync(stage)
    for (const [kind, times] of watch.done) done.set(kind, (done.get(kind) ?? 0) + times)
  })
  const table = [...survived].sort().map(([how, times]) => `${String(times).padStart(5)}  ${how}\n`)
  process.stdout.write(
    `kills survived:\n${table.join('')}the host did meanwhile: ${JSON.stringify([...done])}\n`,
  )
  for (const kind of ['upload', 'send', 'create_album', 'delete']) expect(done.get(kind)).toBeGreaterThan(0)
})
