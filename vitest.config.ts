import { existsSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** A folder in memory, and the room that it must have: each fsync of a test waits for a disk that others use too. */
const MEMORY = { folder: '/dev/shm', bytes: 2 ** 30 }

/** What takes minutes whatever runs beside it: the rest runs meanwhile, and does not wait for it at the end. */
const LONG = ['fuzz', 'lost-answers', 'commands', 'deb', 'kill-transitions'].map(
  name => `/${name}.whole.test.ts`,
)

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some(name => moduleId.endsWith(name))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))]
  }
}

/** Where the tests keep their folders, where nothing else is said. */
function inMemory(): { TMPDIR: string } | null {
  if (process.env.TMPDIR || !existsSync(MEMORY.folder)) return null
  const { bavail, bsize } = statfsSync(MEMORY.folder)
  return bavail * bsize >= MEMORY.bytes ? { TMPDIR: MEMORY.folder } : null
}

export default defineConfig({
  test: {
    // `npm test` leaves out *.whole.test.ts, `npm run test:whole` runs nothing else.
    include: ['test/**/*.test.ts'],
    // Real servers, processes and disks: an upper bound for what hangs, not a measure of speed. On a machine with much other
    // work, what takes ten seconds alone takes minutes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // So that none of them is the one second that vitest gives a poll. Each look costs the CPU that what is awaited needs.
    expect: { poll: { timeout: 30_000, interval: 200 } },
    env: {
      // The program is started hundreds of times: Node keeps it compiled.
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/albumd-tests'),
      ...inMemory(),
    },
    globalSetup: 'test/build-first.ts',
    pool: 'forks',
    // More than there are cores, because most tests wait for a process, an answer or a moment.
    maxWorkers: availableParallelism() + 4,
    sequence: { sequencer: LongestFirst },
    // A process for each file would read all modules again.
    isolate: false,
    // Node takes the sources as they are. Vite would transform them for each worker, which costs each a second and more.
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
})
