import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real servers, processes and disks: an upper bound for what hangs, not a measure of speed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Left to itself vitest leaves a core idle, which is half of a small machine.
    maxWorkers: '100%',
  },
})
