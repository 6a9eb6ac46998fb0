import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import { type Command, commandLine, refuse } from '../../../scripts/command-line.ts'
import { canPreload } from '../../preload.ts'
import { CutHistories } from './play-cuts.ts'
import { makeRecorder } from './recorder.ts'

const POWER_CUTS = {
  name: 'power-cuts',
  about: `Power cuts in the simulation's histories: the state folder's writes and syncs are recorded, the power is cut, and albumd goes
on with what a file system may have kept. Ends with 1 where an invariant did not hold.
1000 power cuts take one or two minutes.`,
  options: {
    images: { value: 'N', least: 1, usual: 1000, does: 'so many power cuts, or a few more' },
    from: { value: 'N', least: 0, usual: 1, does: 'the first seed' },
    every: { does: 'cuts the power before each write, sync and change of a name of a history in turn' },
    seed: { value: 'N', least: 0, beside: ['at', 'forgets'], does: 'one history alone, printed' },
    at: { value: 'N', least: 1, needs: 'seed', does: 'one power cut in it, before its Nth op' },
    forgets: { does: 'on a disk that forgets what it has promised by fdatasync: invariants must break' },
  },
} as const satisfies Command

const { values } = commandLine(POWER_CUTS)
const print = (line: string) => void process.stdout.write(`${line}\n`)

const { RECORD_BELOW, RECORD_TO } = process.env
if (RECORD_TO === undefined) process.exitCode = await recorded()
else process.exitCode = (await cutThePower(RECORD_BELOW!, RECORD_TO)) ? 0 : 1

/** Answers whether every invariant held. */
async function cutThePower(below: string, record: string): Promise<boolean> {
  const began = performance.now()
  const histories = new CutHistories({ below, record, lasting: !values.forgets }, print)
  // In a turn of its own: `quiet` relies on being asked by a microtask.
  await turn()
  const { seed, at, images, from } = values
  if (seed !== null) {
    const log: string[] = []
    const isCut = await histories.play(seed, at, log)
    if (at !== null && !isCut && histories.failures === 0)
      refuse(POWER_CUTS, `--at ${at}: the history of seed ${seed} has fewer ops`)
    for (const line of log) print(line)
  } else await playMany(histories, images, from)
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
async function recorded(): Promise<number> {
  if (!canPreload()) {
    print('power cuts need Linux and a C compiler')
    return 2
  }
  // The other process ends first, so that nothing is written into a folder that goes.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  const recorder = makeRecorder()
  const env = { ...process.env, ...recorder.env }
  const child = spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit', env })
  const [code, signal] = await once(child, 'exit')
  recorder.remove()
  return code ?? 128 + constants.signals[signal as NodeJS.Signals]
}
