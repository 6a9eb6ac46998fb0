import { fork } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shrunk } from './shrink.ts'
import { TARGETS } from './targets/all.ts'

/** What a child (child.ts) does: it reads these inputs, and then, when `ms` is not 0, makes others of them for so long. */
export interface Work {
  target: string
  inputs: Uint8Array[]
  ms: number
  seed: number
  /** What the child reads, known when it hangs or dies: inputs begun (4 bytes), length of this one (4 bytes), its bytes. */
  diary: string
}

/** `fault`: what was wrong with the last input. `inputs`: those that led to code that had not run before. */
export interface Done {
  fault: string | null
  inputs: Uint8Array[]
}

/** Bytes before the input in the diary. */
export const DIARY_HEAD = 8

/** An input that is read wrongly, as short as it was made. */
export interface Fault {
  target: string
  fault: string
  input: Buffer
}

/** The targets take turns of so many milliseconds. */
const TURN_MS = 20_000
/** A child that has run or waited for so long at one input hangs. */
const HANGS_MS = 60_000
const TICK_MS = 500
/** The most memory for a child's objects, in MB: what was only not collected yet must not look like growth. */
const HEAP_MB = 256

/** What one child did. `input`: the one that it read last. */
interface Turn extends Done {
  runs: number
  input: Buffer
}

async function turnOf(work: Omit<Work, 'diary'>): Promise<Turn> {
  const folder = mkdtempSync(join(tmpdir(), 'albumd-fuzz-'))
  const diary = join(folder, 'diary')
  writeFileSync(diary, Buffer.alloc(DIARY_HEAD))
  const child = fork(new URL('./child.ts', import.meta.url), [], {
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let said = ''
  child.stderr!.on('data', text => {
    said += text
  })
  const { promise, resolve } = Promise.withResolvers<Done>()
  const ended = (fault: string) => resolve({ fault, inputs: [] })
  let begun = 0
  let quiet = 0
  let before = 0
  // Ticks are counted, and not time: when both processes were stopped for a while, nothing hangs.
  const watch = setInterval(() => {
    const now = readFileSync(diary).readUInt32LE()
    const { waits, ranMs } = threadsOf(child.pid!)
    // Before its first input it only starts.
    quiet = now === begun && now > 0 ? quiet + (waits ? TICK_MS : ranMs - before) : 0
    begun = now
    before = ranMs
    if (quiet > HANGS_MS) ended(`hangs: no end after ${HANGS_MS / 1000} s`)
  }, TICK_MS)
  child.on('message', done => resolve(done as Done))
  child.on('exit', (code, signal) => ended(`ended with ${code ?? signal}: ${said.trim().slice(0, 2000)}`))
  child.send({ ...work, diary } satisfies Work)
  const done = await promise
  clearInterval(watch)
  child.kill('SIGKILL')
  const told = readFileSync(diary)
  rmSync(folder, { recursive: true })
  const input = told.subarray(DIARY_HEAD, DIARY_HEAD + told.readUInt32LE(4))
  return { ...done, runs: told.readUInt32LE(), input }
}

/** The unit of the processor's time in /proc, the same on every Linux. */
const PROC_TICK_MS = 10

/** `waits`: no thread runs or would. `ranMs`: for how long they ran: the child has the least priority, and may get none. */
function threadsOf(pid: number): { waits: boolean; ranMs: number } {
  // What stands behind the name, which may hold spaces and brackets.
  const stat = (of: string) => readFileSync(`/proc/${of}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  try {
    const states = readdirSync(`/proc/${pid}/task`).map(id => stat(`${pid}/task/${id}`)[0])
    const [user, system] = stat(`${pid}`).slice(11, 13).map(Number) as [number, number]
    return { waits: states.every(state => state === 'S'), ranMs: (user + system) * PROC_TICK_MS }
  } catch {
    // A thread has ended meanwhile: the next look counts what it ran.
    return { waits: false, ranMs: 0 }
  }
}

/** What is wrong with how the target reads one of these inputs; null when nothing is. */
export async function faultIn(target: string, inputs: readonly Uint8Array[]): Promise<string | null> {
  const { fault } = await turnOf({ target, inputs: [...inputs], ms: 0, seed: 0 })
  return fault
}

export interface FuzzOptions {
  targets: readonly string[]
  minutes: number
  seed: number
  say(line: string): void
  /** Called for each fault as soon as it was made shorter. */
  found(fault: Fault): void
}

/** Reads changed inputs for so long. A target that failed gets no more turns. */
export async function fuzz({ targets, minutes, seed, say, found }: FuzzOptions): Promise<void> {
  const end = performance.now() + minutes * 60_000
  const playing = new Map(
    targets.map(name => [name, { inputs: TARGETS[name]!.seeds() as Uint8Array[], runs: 0 }]),
  )
  const turnMs = Math.min(TURN_MS, (minutes * 60_000) / targets.length)
  for (let turn = 0; performance.now() < end && playing.size > 0; turn++)
    for (const [target, known] of playing) {
      const ms = Math.min(turnMs, end - performance.now())
      if (ms <= 0) break
      const { fault, runs, inputs, input } = await turnOf({
        target,
        inputs: known.inputs,
        ms,
        seed: seed + turn,
      })
      known.runs += runs
      if (fault === null) known.inputs = inputs
      else {
        playing.delete(target)
        say(`${target}: ${fault.split('\n', 1)[0]}; it is made shorter`)
        found({ target, fault, input: await shortest(target, fault, input) })
      }
      say(`${target}: ${known.runs} inputs read, ${known.inputs.length} of them lead to code of their own`)
    }
}

/** A shorter input that is read wrongly in the same way. */
function shortest(target: string, fault: string, input: Buffer): Promise<Buffer> {
  const kind = kindOf(fault)
  return shrunk(input, async shorter => {
    const found = await faultIn(target, [shorter])
    return found !== null && kindOf(found) === kind
  })
}

/** The first words of a fault, without its numbers. */
function kindOf(fault: string): string {
  return fault.split('\n', 1)[0]!.replace(/\d+/g, '')
}
