import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answered } from '../../hosts/observed-host.ts'
import { isCredential } from '../../hosts/observed-host.ts'
import { foldersRead } from '../../measure/folders-read.ts'
import { untilIdle } from '../../measure/idle.ts'
import { waitFor } from '../../measure/wait.ts'
import type { Daemon } from '../../ours/daemon.ts'
import type { SyncedTree } from '../../ours/synced-tree.ts'
import type { Means } from '../../part.ts'
import { randomPicture } from '../../trees/picture-set.ts'
import { foldersOf, leavesOf } from '../../trees/shape.ts'

/** Folders below the root that the daemon read; null where nobody could see it. The root is looked at with each event. */
export interface Reading {
  /** After a new picture, and after it was deleted again. */
  added: ReadonlySet<string> | null
  deleted: ReadonlySet<string> | null
}

/** One picture comes into a folder in the middle, and goes again. The daemon is to rest, and rests at the end. */
export async function readingAfterEvents(
  { has, scratch }: Means,
  synced: SyncedTree,
  daemon: Daemon,
): Promise<Reading> {
  const { tree, host } = synced
  const path = join(middleOf(synced), 'new.bmp')
  const reading = async (cause: () => void, effect: (answered: Answered) => boolean) => {
    const during = async () => {
      cause()
      await waitFor('what follows from an event', async () => (await host.seen()).find(effect))
      await untilIdle(daemon.pid)
    }
    if (!has('strace', 'folders read after an event')) {
      await during()
      return null
    }
    const read = await foldersRead(daemon.pid, join(scratch, 'calls'), during)
    return read && new Set([...read].filter(folder => folder.startsWith(`${tree}/`)))
  }
  return {
    added: await reading(() => writeFileSync(path, randomPicture(4, 4)), isCredential),
    deleted: await reading(
      () => rmSync(path),
      ({ method }) => method === 'DELETE',
    ),
  }
}

/** Which folders need a look after an event: only the one in which it was. Before an image goes, all are looked at. */
export function reportReading(means: Means, synced: SyncedTree, runs: readonly Reading[]): void {
  const folders = foldersOf(synced.shape).toLocaleString('en-US')
  const mostOf = (each: readonly (ReadonlySet<string> | null)[]) =>
    Math.max(...each.map(read => read?.size ?? 0)).toLocaleString('en-US')
  const added = runs.map(run => run.added)
  if (added.includes(null)) {
    means.say('folders read after an event: left out, for nobody can see what a process calls here')
    return
  }
  means.add({
    figure: `folders read after a new picture, root aside, of ${folders}`,
    ours: mostOf(added),
    theirs: '',
    ratio: null,
    aim: 'only its own',
    met: added.every(read => read!.size === 1 && read!.has(middleOf(synced))),
  })
  means.add({
    figure: `folders read until a deleted picture's image goes, of ${folders}`,
    ours: mostOf(runs.map(run => run.deleted)),
    theirs: '',
    ratio: null,
    aim: '',
    met: null,
  })
}

function middleOf({ tree, shape }: Pick<SyncedTree, 'tree' | 'shape'>): string {
  const leaves = [...leavesOf(shape)]
  return join(tree, leaves[Math.floor(leaves.length / 2)]!)
}
