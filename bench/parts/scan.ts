import { cpSync, existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/free-port.ts'
import { canDropCaches, dropCaches } from '../measure/cold-cache.ts'
import { inRounds } from '../measure/rounds.ts'
import type { TimedRun } from '../measure/timed-run.ts'
import type { SyncedTree } from '../ours/synced-tree.ts'
import type { Means, Part } from '../part.ts'
import { find, rcloneLsf, rcloneSync } from '../peers/listings.ts'
import { startSyncthing } from '../peers/syncthing.ts'
import { type Aim, compareRuns } from '../table/compare.ts'
import { changeOneFile, renewOneFile } from '../trees/make-tree.ts'
import { TREES, type TreeName } from '../trees/shape.ts'

/** Ours is the whole process: its start, its database, and its end. */
export const scan: Part = {
  name: 'scan',
  about: 'what a look at everything costs',
  async measure(means) {
    const { short } = means
    await measureTree(means, '100k', 5, {
      find: { most: 1.8, words: '≤ 1.8 × find' },
      'rclone lsf': { most: 1, words: 'ahead of rclone lsf' },
    })
    if (short) return
    await measureTree(means, '1M', 3, { find: { most: 1.05, words: '≤ 1.05 × find' } })
    await measureShape(means, 'flat', '200k files in one folder')
    await measureShape(means, 'one-top', '100k files below one top folder')
  },
}

type Contestants = Record<string, () => Promise<TimedRun>>

async function measureTree(
  means: Means,
  name: TreeName,
  rounds: number,
  aims: Record<string, Aim>,
): Promise<void> {
  const { short, say } = means
  const synced = await means.trees.open(name)
  try {
    say(`nothing changed, ${name}`)
    const runs = await inRounds(rounds, contestants(means, synced))
    means.nothingChanged.set(name, runs)
    compareRuns(means, `sync, nothing changed, ${name}`, runs, aims)
    if (name === '100k') await besideSyncs(means, synced, short ? 2 : 3)
    else await oneChanged(means, synced, 2, {})
    if (!short) await withColdCache(means, synced)
  } finally {
    await synced.close()
  }
  if (!short) await firstIndex(means, name)
}

async function measureShape(means: Means, name: TreeName, words: string): Promise<void> {
  const synced = await means.trees.open(name)
  try {
    means.say(words)
    compareRuns(means, `sync, nothing changed, ${words}`, await inRounds(3, contestants(means, synced)))
  } finally {
    await synced.close()
  }
}

/** Those that look at a tree and change nothing. */
function contestants({ has }: Means, { tree, workspace }: SyncedTree): Contestants {
  return {
    albumd: () => workspace.albumd(['sync']),
    ...(has('find', 'find') && { find: () => find(tree) }),
    ...(has('rclone', 'rclone lsf') && { 'rclone lsf': () => rcloneLsf(tree) }),
  }
}

/** Those that compare with what they know, or with another folder. */
async function besideSyncs(means: Means, synced: SyncedTree, rounds: number): Promise<void> {
  const { cache, has, say, short } = means
  const { tree, workspace } = synced
  const copy = has('rclone', 'rclone sync') ? copyOf(means, tree) : null
  const syncthing =
    !short && has('syncthing', 'Syncthing rescan')
      ? await startSyncthing({
          home: join(cache, 'syncthing'),
          folder: tree,
          guiPort: await freePort(),
          syncPort: await freePort(),
        })
      : null
  try {
    if (syncthing) say('Syncthing looks at everything for the first time')
    await syncthing?.idle()
    const others: Contestants = {
      ...(copy && { 'rclone sync': () => rcloneSync(tree, copy) }),
      ...(syncthing && { 'Syncthing rescan': () => syncthing.rescan() }),
    }
    // What was changed since the copy was made is brought over first: so it was for albumd.
    if (copy) await rcloneSync(tree, copy)
    say('nothing changed, beside what syncs')
    const ours = () => workspace.albumd(['sync'])
    compareRuns(means, 'sync, nothing changed, 100k', await inRounds(rounds, { albumd: ours, ...others }))
    await oneChanged(means, synced, rounds, others)
  } finally {
    await syncthing?.stop()
  }
}

/** Each brings the change over, or notices it: albumd uploads, rclone copies, Syncthing hashes. */
async function oneChanged(
  means: Means,
  { tree, shape, workspace }: SyncedTree,
  rounds: number,
  others: Contestants,
): Promise<void> {
  means.say(`one file changed, ${shape.name}`)
  const afterChange = (run: () => Promise<TimedRun>) => () => {
    changeOneFile(tree, shape)
    return run()
  }
  const all: Contestants = {
    albumd: afterChange(() => workspace.albumd(['sync'])),
    ...(means.has('find', 'find') && { find: () => find(tree) }),
    ...Object.fromEntries(Object.entries(others).map(([name, run]) => [name, afterChange(run)])),
  }
  compareRuns(means, `sync, one file changed, ${shape.name}`, await inRounds(rounds, all))
}

async function withColdCache(means: Means, synced: SyncedTree): Promise<void> {
  const { name } = synced.shape
  if (!canDropCaches()) {
    means.say(`a cold cache is left out: only root can drop the system's caches`)
    return
  }
  means.say(`a cold cache, ${name}`)
  const cold = Object.entries(contestants(means, synced)).map(([each, run]) => {
    const forgetAndRun = () => {
      dropCaches()
      return run()
    }
    return [each, forgetAndRun] as const
  })
  const figure = `sync, nothing changed, cold cache, ${name}`
  compareRuns(means, figure, await inRounds(1, Object.fromEntries(cold)))
}

async function firstIndex(means: Means, name: TreeName): Promise<void> {
  means.say(`the first look, ${name}`)
  const tree = means.trees.tree(name)
  renewOneFile(tree, TREES[name])
  const both: Contestants = {
    albumd: () => means.trees.index(name),
    ...(means.has('find', 'find') && { find: () => find(tree) }),
  }
  const runs = await inRounds(name === '100k' ? 2 : 1, both)
  const most = name === '100k' ? 5 : 3.2
  compareRuns(means, `first look, ${TREES[name].files.toLocaleString('en-US')} rows recorded`, runs, {
    find: { most, words: `≤ ${most} × find` },
  })
}

/** A second tree with the same files, for what syncs folder to folder. */
function copyOf({ cache, say }: Means, tree: string): string {
  const copy = join(cache, 'copy-100k')
  if (existsSync(copy)) return copy
  say('copies the tree for rclone sync (once)')
  const unfinished = `${copy}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  cpSync(tree, unfinished, { recursive: true, preserveTimestamps: true })
  renameSync(unfinished, copy)
  return copy
}
