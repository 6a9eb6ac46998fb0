import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real servers, processes and disks: an upper bound for what hangs, not a measure of speed.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // So that none of them is the one second that vitest gives a poll.
    expect: { poll: { timeout: 30_000 } },
    // The program is started hundreds of times: Node keeps it compiled.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/albumd-tests') },
    globalSetup: 'test/build-first.ts',
    pool: 'forks',
    // Left to itself vitest leaves a core idle, which is half of a small machine.
    maxWorkers: '100%',
  },
})
