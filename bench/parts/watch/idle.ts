import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../test/free-port.ts'
import { idleShares, untilIdle } from '../../measure/idle.ts'
import type { Daemon } from '../../ours/daemon.ts'
import type { SyncedTree } from '../../ours/synced-tree.ts'
import type { Means } from '../../part.ts'
import { type Syncthing, startSyncthing } from '../../peers/syncthing.ts'

/** What a start leaves in memory is cleared away once a process has rested for some seconds. */
const LITTER_MS = 30_000

/** Who watches a tree in which nothing happens. */
interface Resting {
  synced: SyncedTree
  daemon: Daemon
  syncthing: Syncthing | null
}

/** What a daemon takes while nothing happens to its tree, counted in its own time: the bench goes on meanwhile. */
export async function idle(means: Means, seconds: number): Promise<void> {
  const synced = await means.trees.open('100k')
  const resting: Resting = { synced, daemon: synced.workspace.daemon(), syncthing: null }
  try {
    if (!means.short && means.has('syncthing', 'Syncthing at rest'))
      resting.syncthing = await startIdleSyncthing(means, synced.tree)
    await untilIdle(resting.daemon.pid)
  } catch (error) {
    await stop(resting)
    throw error
  }
  means.say(`nothing happens for ${seconds} s; other parts go on meanwhile`)
  means.meanwhile(measure(means, resting, seconds).finally(() => stop(resting)))
}

async function measure(means: Means, { daemon, syncthing }: Resting, seconds: number): Promise<void> {
  await sleep(LITTER_MS)
  const pids = [daemon.pid, ...(syncthing ? [syncthing.pid] : [])]
  const [ours, theirs] = await idleShares(pids, seconds)
  const inWords = (share: number) => `${(share * 100).toFixed(3)} %`
  means.add({
    figure: `processor, ${seconds} s in which nothing happens, 100k`,
    ours: inWords(ours!),
    theirs: theirs === undefined ? '' : `Syncthing ${inWords(theirs)}`,
    ratio: theirs ? ours! / theirs : null,
    aim: '< 0.1 %',
    met: ours! < 0.001,
  })
}

async function stop({ synced, daemon, syncthing }: Resting): Promise<void> {
  try {
    await daemon.stop()
  } finally {
    await syncthing?.stop()
    await synced.close()
  }
}

/** A Syncthing that knows the tree and has come to rest. */
async function startIdleSyncthing({ cache, say }: Means, tree: string): Promise<Syncthing> {
  say('waits for Syncthing to rest')
  const syncthing = await startSyncthing({
    home: join(cache, 'syncthing'),
    folder: tree,
    guiPort: await freePort(),
    syncPort: await freePort(),
  })
  await syncthing.idle()
  await untilIdle(syncthing.pid)
  return syncthing
}
