import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WINDOW_MS } from '../../src/remote/gate/rate-window.ts'
import { inRounds } from '../measure/rounds.ts'
import { type TimedRun, timedRun } from '../measure/timed-run.ts'
import { PROGRAM } from '../ours/workspace.ts'
import type { Means, Part } from '../part.ts'
import { type Aim, compareRuns } from '../table/compare.ts'
import { changingFile } from '../trees/shape.ts'

/** Each is the whole process, from its start to its end. */
export const start: Part = {
  name: 'start',
  about: 'what short commands cost, most of which is their start',
  measure: means => startUp(means, means.short ? 10 : 20),
}

async function startUp(means: Means, rounds: number): Promise<void> {
  const { tree, shape, workspace, close } = await means.trees.open('18', { limited: true })
  try {
    means.say('short commands')
    const sync = () => workspace.albumd(['sync'])
    const { node, version, url, status, first, second } = await inRounds(rounds, {
      node: () => timedRun(process.execPath, ['-e', '0']),
      version: () => timedRun(process.execPath, [PROGRAM, '--version']),
      url: () => workspace.albumd(['url', join(tree, changingFile(shape))]),
      status: () => workspace.albumd(['status']),
      first: () => sleep(WINDOW_MS).then(sync),
      second: () => sync().then(sync),
    })
    const beside = (figure: string, albumd: TimedRun[], aim: Aim) =>
      compareRuns(means, figure, { albumd, 'node -e 0': node }, { 'node -e 0': aim })
    beside('albumd --version', version, { most: 3, words: '≤ 3 × node -e 0' })
    beside('albumd url FILE', url, { most: 0.08, of: 'seconds', words: '≤ 80 ms' })
    beside('albumd status', status, { most: 0.08, of: 'seconds', words: '≤ 80 ms' })
    beside('sync, nothing to do, 18 files', first, { most: 0.13, of: 'seconds', words: '≤ 130 ms' })
    const again = { albumd: second, 'the first': first }
    const aim = { most: 1.2, words: 'as quick as the first' }
    compareRuns(means, 'the same again, within a second', again, { 'the first': aim })
  } finally {
    await close()
  }
}
