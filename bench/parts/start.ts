import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WINDOW_MS } from '../../src/remote/gate/rate-window.ts'
import { untilIdle } from '../measure/idle.ts'
import { inRounds } from '../measure/rounds.ts'
import { type TimedRun, timedRun } from '../measure/timed-run.ts'
import type { SyncedTree } from '../ours/synced-tree.ts'
import { PROGRAM } from '../ours/workspace.ts'
import type { Means, Part } from '../part.ts'
import { type Aim, compareRuns } from '../table/compare.ts'
import { changingFile, fileName } from '../trees/shape.ts'
import { writePicture } from './latency/write-picture.ts'

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
    beside('albumd url FILE', url, { most: 1.85, words: '≤ 1.85 × node -e 0' })
    beside('albumd status', status, { most: 2.1, words: '≤ 2.1 × node -e 0' })
    beside('sync, nothing to do, 18 files', first, { most: 2.9, words: '≤ 2.9 × node -e 0' })
    const again = { albumd: second, 'the first': first }
    const aim = { most: 1.2, words: 'as quick as the first' }
    compareRuns(means, 'the same again, within a second', again, { 'the first': aim })
    means.say('put beside a daemon')
    const put = await puts({ tree, workspace }, rounds)
    beside('albumd put FILE beside a daemon', put, { most: 0.3, of: 'seconds', words: '≤ 300 ms' })
  } finally {
    await close()
  }
}

/** One new picture after the other, to a daemon that rests. The tree is left as it was. */
async function puts({ tree, workspace }: Pick<SyncedTree, 'tree' | 'workspace'>, rounds: number) {
  const folder = join(tree, 'put')
  mkdirSync(folder)
  const daemon = workspace.daemon()
  const runs: TimedRun[] = []
  try {
    await untilIdle(daemon.pid)
    // The first picture makes the album. Its time does not count.
    for (let number = 0; number <= rounds; number++) {
      const path = join(folder, fileName(number))
      await writePicture(path, false)
      runs.push(await workspace.albumd(['put', path]))
    }
    await daemon.stop()
    return runs.slice(1)
  } finally {
    rmSync(folder, { recursive: true })
    await workspace.albumd(['sync'], { codes: [0, 3] })
  }
}
