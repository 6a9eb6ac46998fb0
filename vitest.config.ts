import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** A folder in memory, and the room that it must have: each fsync of a test waits for a disk that others use too. */
const MEMORY = { folder: '/dev/shm', bytes: 2 ** 30 }

/** The tests that take the longest, because they mostly wait. They begin first, so that at the end nobody waits for them. */
const LONG = [
  '/fuzz.whole.test.ts',
  '/states.whole.test.ts',
  '/lost-answers.whole.test.ts',
  '/deb.whole.test.ts',
  '/state-restored.whole.test.ts',
  '/kill-transitions.whole.test.ts',
  '/commands.whole.test.ts',
  '/supervision.whole.test.ts',
  '/rate.whole.test.ts',
  '/readings.whole.test.ts',
  '/watchdog.whole.test.ts',
  '/tree-events.whole.test.ts',
  '/put.whole.test.ts',
  '/control.whole.test.ts',
]
/** The tests that take all cores by themselves. They begin last, because no core is idle while the last of them runs. */
const WIDE = ['power-cuts', 'seeds', 'mutants', 'exhaust'].map(name => `/${name}.whole.test.ts`)

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const isThis = (end: string) => moduleId.endsWith(end)
      const long = LONG.findIndex(isThis)
      return long >= 0 ? long : LONG.length + (WIDE.some(isThis) ? 1 : 0)
    }
    return (await super.sort(files)).sort((one, other) => place(one) - place(other))
  }
}

/** Where the tests keep their folders, where nothing else is said. */
function inMemory(): { TMPDIR: string } | null {
  if (process.env.TMPDIR || !existsSync(MEMORY.folder)) return null
  const { bavail, bsize } = statfsSync(MEMORY.folder)
  return bavail * bsize >= MEMORY.bytes ? { TMPDIR: MEMORY.folder } : null
}

/** Whether other work keeps all cores busy just now. Where the system does not say how many tasks run, none does. */
function isBusy(): boolean {
  const running = existsSync('/proc/loadavg') ? /(\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] : 0
  return Number(running) > 2 * availableParallelism()
}

export default defineConfig({
  test: {
    // `npm test` leaves out *.whole.test.ts, `npm run test:whole` runs nothing else.
    include: ['test/**/*.test.ts'],
    // Real servers, processes and disks: an upper bound for what hangs, not a measure of speed. On a machine with much other
    // work, what takes ten seconds alone takes minutes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // A poll has half of a test's time, so that a failure names what the poll waited for. Each look takes CPU from the
    // process that the poll waits for.
    expect: { poll: { timeout: 300_000, interval: 200 } },
    env: {
      // The program is started hundreds of times: Node keeps it compiled.
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/albumd-tests'),
      ...inMemory(),
    },
    globalSetup: 'test/build-first.ts',
    pool: 'forks',
    // More than there are cores, because most tests wait for a process, an answer or a moment. Each worker makes the code
    // fast anew: ten take a tenth more CPU than six. But beside other work they have a larger share of the cores. The whole
    // tests start more processes.
    maxWorkers: availableParallelism() + (isBusy() && !process.argv.includes('.whole.test.ts') ? 9 : 4),
    sequence: { sequencer: LongestFirst },
    // A process for each file would read all modules again.
    isolate: false,
    // Node takes the sources as they are. Vite would transform them for each worker, which costs each a second and more.
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
})
