import { parseArgs } from 'node:util'
import { openKits } from '../sim/campaign.ts'
import { World } from '../sim/engine/world.ts'
import { type Action, type ActionKind, byTime, type History } from '../sim/histories/history.ts'
import { Random } from '../sim/histories/random.ts'
import { PLAIN_SETTING } from '../sim/histories/setting.ts'
import { PLAIN } from '../sim/histories/variations.ts'
import { mustConverge } from '../sim/judges/convergence.ts'
import { inWords } from './slope.ts'

/*
 * A year of the simulation's world, with every invariant judged: people churn files each hour, now and then the process
 * or the machine ends, the host has its troubles and its quota. `node --expose-gc test/soak/virtual.ts [--days 365]
 * [--seed 1]` prints the rows of each table as they come, and how the tables and the heap grew. The heap holds the world
 * too, which forgets nothing of its history: what grows with the images ever sent is its own.
 */

const HOUR_MS = 3_600_000

/** What may happen in an hour: so many times in a thousand. */
const PER_HOUR: Partial<Record<ActionKind, number>> = {
  add: 500,
  change: 500,
  changeInPlace: 100,
  rename: 300,
  remove: 420,
  undelete: 50,
  copyTo: 60,
  renameFolder: 30,
  swapFolders: 20,
  removeFolder: 8,
  fault: 100,
  kill: 20,
  end: 10,
  reboot: 2,
  quota: 5,
  quotaBack: 20,
  approve: 40,
  otherUploads: 5,
}

const { values } = parseArgs({
  options: { days: { type: 'string', default: '365' }, seed: { type: 'string', default: '1' } },
})
const hours = Number(values.days) * 24
const seed = Number(values.seed)
const say = (line: string) => void process.stdout.write(`${line}\n`)

function yearOf(random: Random): History {
  const actions: Action[] = []
  for (let pass = 0; pass < hours; pass++)
    for (const [kind, times] of Object.entries(PER_HOUR) as [ActionKind, number][])
      if (random.below(1000) < times) {
        const step = random.chance(0.5) ? 0 : 1 + random.below(60)
        actions.push({ pass, step, kind, a: random.next(), b: random.next() })
      }
  return {
    seed,
    variations: PLAIN,
    mirrors: [
      { album: 'Photos', deletions: 'propagate', mounted: false, subMount: false, bind: false },
      { album: 'Scans/Old', deletions: 'propagate', mounted: false, subMount: false, bind: false },
    ],
    files: [[random.next(), random.next()]],
    hold: { hold_above: 0.5, hold_min: 20 },
    graceMs: 600_000,
    graceManyMs: 86_400_000,
    concurrency: 4,
    order: 'newest',
    setting: PLAIN_SETTING,
    news: false,
    pauses: Array.from({ length: hours }, () => HOUR_MS),
    actions: actions.sort(byTime),
  }
}

/** The actions of each pass; a history of a year is too long to be searched in each. */
function perPass({ actions }: History): Map<number, Action[]> {
  return Map.groupBy(actions, ({ pass }) => pass)
}

async function main(): Promise<boolean> {
  const kits = openKits()
  const whole = yearOf(new Random(seed, 7))
  const byPass = perPass(whole)
  const history: { -readonly [Key in keyof History]: History[Key] } = { ...whole }
  const world = new World(history, kits)
  const series = new Map<string, { at: number; value: number }[]>()
  const note = (name: string, at: number, value: number) => {
    const samples = series.get(name) ?? []
    samples.push({ at, value })
    series.set(name, samples)
  }
  for (let pass = 0; pass < hours && !world.oracle.violation; pass++) {
    history.actions = byPass.get(pass) ?? []
    await world.passes.run(pass)
    await world.rest(HOUR_MS)
    if ((pass + 1) % (24 * 7) !== 0) continue
    globalThis.gc?.()
    const rows = new Map([...kits.state.save()].map(([table, all]) => [table, all.length]))
    for (const [table, count] of rows) note(table, pass * HOUR_MS, count)
    note('heap (MB)', pass * HOUR_MS, process.memoryUsage().heapUsed)
    if ((pass + 1) % (24 * 28) === 0)
      say(`day ${(pass + 1) / 24}: ${[...rows].map(([table, count]) => `${table} ${count}`).join(', ')}`)
  }
  history.actions = []
  if (!world.oracle.violation) await mustConverge(world, hours)
  const images = world.host.truth.images.size
  say(`${hours} hours, ${world.passes.steps} steps, ${images} images ever sent`)
  for (const [name, samples] of series)
    say(inWords(name, samples, (hours * HOUR_MS) / 3, name === 'heap (MB)' ? 2 ** 20 : 1))
  const { violation } = world.oracle
  say(violation ? `${violation.invariant}: ${violation.what}` : 'every invariant held')
  return violation === null
}

process.exitCode = (await main()) ? 0 : 1
