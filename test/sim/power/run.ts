import { spawnSync } from 'node:child_process'
import { setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { canPreload } from '../../preload.ts'
import { CutHistories } from './play-cuts.ts'
import { makeRecorder } from './recorder.ts'

/*
 * Power cuts: `npm run power-cuts -- --images 10000 [--from N] [--every]`. Ends with 1 where an invariant did not hold.
 */

const USAGE = `npm run power-cuts [-- OPTION…]

Power cuts in the simulation's histories: the state folder's writes and syncs are recorded, the power is cut, and albumd goes on with what a file system may have kept. Ends with 1 where an invariant did not hold.

  --images N   so many power cuts (1000)
  --from N     the first seed (1)
  --every      cuts the power before each write, sync and change of a name of a history in turn
  --seed N     one history alone, printed; with --at N one power cut before its Nth op
  --forgets    on a disk that forgets what it has promised by fdatasync: invariants must break
  --help       prints this`

const { values } = parseArgs({
  options: {
    images: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    every: { type: 'boolean', default: false },
    seed: { type: 'string' },
    at: { type: 'string' },
    forgets: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const print = (line: string) => void process.stdout.write(`${line}\n`)

if (values.help) print(USAGE)
else if (process.env.RECORD_TO === undefined) process.exitCode = recorded()
else process.exitCode = (await cutThePower(process.env.RECORD_BELOW!, process.env.RECORD_TO)) ? 0 : 1

/** Answers whether every invariant held. */
async function cutThePower(below: string, record: string): Promise<boolean> {
  const began = performance.now()
  const histories = new CutHistories({ below, record, lasting: !values.forgets }, print)
  // In a turn of its own: `quiet` relies on being asked by a microtask.
  await turn()
  if (values.seed !== undefined) {
    const log: string[] = []
    await histories.play(Number(values.seed), values.at === undefined ? null : Number(values.at), log)
    for (const line of log) print(line)
  } else await playMany(histories, Number(values.images), Number(values.from))
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  const { cuts, failures } = histories
  print(`${cuts} power cuts in ${histories.histories} histories in ${seconds} s: ${failures} failures`)
  histories.close()
  return failures === 0
}

async function playMany(histories: CutHistories, images: number, from: number): Promise<void> {
  for (let seed = from; histories.cuts < images; seed++) {
    if (!values.every) await histories.play(seed, null)
    else for (let at = 1; histories.cuts < images && (await histories.play(seed, at)); at++);
  }
}

/** Runs this file again, and records what it does with its disks. */
function recorded(): number {
  if (!canPreload()) {
    print('power cuts need Linux and a C compiler')
    return 2
  }
  const recorder = makeRecorder()
  try {
    const env = { ...process.env, ...recorder.env }
    return spawnSync(process.execPath, process.argv.slice(1), { stdio: 'inherit', env }).status ?? 1
  } finally {
    recorder.remove()
  }
}
