import { once } from 'node:events'
import { openSync, writeSync } from 'node:fs'
import { setPriority } from 'node:os'
import { Random } from '../sim/histories/random.ts'
import { Coverage } from './coverage.ts'
import { DIARY_HEAD, type Done, type Work } from './fuzz.ts'
import { mutated } from './mutate.ts'
import { TARGETS } from './targets/all.ts'

/** The longest time of the processor that an input may take. A wait is found by the parent. */
const LONGEST_MS = 1000
/** By how much the process may grow while it reads one input. */
const GROWTH = 300 * 2 ** 20
/** The process's memory is counted after an input that took so long: less time is too short to fill much. */
const COUNTED_FROM_MS = 20
/** The coverage is asked for after so many inputs. */
const BATCH = 64
/** A longer input is tried, but no others are made of it: it would only take longer. */
const KEPT_MOST = 20_000

/** One in so many inputs is kept although it leads to no new code, so that further changes may come on top of its own. */
const DRIFT = 1000
/** The most inputs that others are made of. */
const CORPUS_MOST = 2000

const [{ target: name, inputs, ms, seed, diary }] = (await once(process, 'message')) as [Work]
// The processor is for the tests beside this process first: their hosts and credentials hang on the real time. A child that
// only reads what it is given has a test that waits for it.
if (ms > 0) setPriority(19)
const target = TARGETS[name]!
const file = openSync(diary, 'r+')

const coverage = new Coverage()
const corpus: Buffer[] = []

/** The bytes of memory that the process has, as they were counted last. */
let resident = 0
let runs = 0

/** What is wrong with how an input was read; null when nothing is. */
async function faultOf(input: Buffer): Promise<string | null> {
  const head = Buffer.alloc(DIARY_HEAD)
  head.writeUInt32LE(++runs)
  head.writeUInt32LE(input.length, 4)
  writeSync(file, Buffer.concat([head, input]), 0, DIARY_HEAD + input.length, 0)
  const began = process.cpuUsage()
  try {
    await target.read(input)
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
  const { user, system } = process.cpuUsage(began)
  const took = (user + system) / 1000
  if (took < COUNTED_FROM_MS) return null
  const growth = process.memoryUsage.rss() - resident
  resident += growth
  if (growth > GROWTH) return `grew by ${Math.round(growth / 2 ** 20)} MB`
  return took > LONGEST_MS ? `took ${Math.round(took)} ms` : null
}

/** On a machine that is busy with other things any input may take long, but not three times. */
async function lastingFault(input: Buffer): Promise<string | null> {
  let fault = await faultOf(input)
  for (let again = 0; again < 2 && fault?.startsWith('took '); again++) fault = await faultOf(input)
  return fault
}

/** Reads these inputs in turn. Answers what is wrong with the first that is read wrongly. */
async function readAll(inputs: readonly Buffer[]): Promise<string | null> {
  resident = process.memoryUsage.rss()
  for (const input of inputs) {
    const fault = await lastingFault(input)
    if (fault !== null) return fault
  }
  return null
}

/** Keeps those of the inputs that lead to code that no input before has led to. */
async function keep(inputs: readonly Buffer[]): Promise<void> {
  for (const input of inputs) {
    await target.read(input)
    if (coverage.isNew({ note: true })) add(input)
  }
}

function add(input: Buffer): void {
  if (input.length <= KEPT_MOST && corpus.length < CORPUS_MOST) corpus.push(input)
}

async function work(): Promise<string | null> {
  const random = new Random(seed)
  const first = inputs.map(input => Buffer.from(input))
  if (ms > 0) coverage.begin()
  const fault = await readAll(first)
  if (fault !== null || ms === 0) return fault
  coverage.isNew({ note: false })
  await keep(first)
  for (const end = performance.now() + ms; performance.now() < end; ) {
    const batch = Array.from({ length: BATCH }, () =>
      mutated(random.pick(corpus), random.pick(corpus), random, target),
    )
    const fault = await readAll(batch)
    if (fault !== null) return fault
    if (coverage.isNew({ note: false })) await keep(batch)
    else if (random.below(DRIFT / BATCH) === 0) add(random.pick(batch))
  }
  return null
}

const fault = await work()
process.send!({ fault, inputs: corpus } satisfies Done)
