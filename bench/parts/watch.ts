import { setTimeout as sleep } from 'node:timers/promises'
import { isCredential } from '../hosts/observed-host.ts'
import { untilIdle } from '../measure/idle.ts'
import { usageOf, watchesOf } from '../measure/process-usage.ts'
import { inRounds } from '../measure/rounds.ts'
import { median, ratioOf } from '../measure/statistics.ts'
import { nowMs, waitFor } from '../measure/wait.ts'
import type { SyncedTree } from '../ours/synced-tree.ts'
import type { Means, Part } from '../part.ts'
import { startChokidar } from '../peers/chokidar.ts'
import { megabytes, seconds } from '../table/units.ts'
import { changeOneFile } from '../trees/make-tree.ts'
import { foldersOf, type TreeName } from '../trees/shape.ts'
import { burst } from './watch/burst.ts'
import { idle } from './watch/idle.ts'
import { type Reading, readingAfterEvents, reportReading } from './watch/reading.ts'

export const watch: Part = {
  name: 'watch',
  about: 'what it takes to be told of changes',
  async measure(means) {
    await bare(means)
    await start(means, '100k', means.short ? 1 : 2, 150)
    if (!means.short) await start(means, '1M', 1, 200)
    if (!means.short) await burst(means, 20_000)
    await idle(means, means.short ? 40 : 300)
  },
}

/** A picture that was left alone for so long is taken for finished. */
const SETTLED_MS = 3000

interface Started {
  seconds: number
  peakMb: number
}

interface OursStarted extends Started {
  /** From the start to the first request for an upload. */
  uploadSeconds: number
  reading: Reading
}

/** What a daemon takes that has nothing to do, and few files. */
async function bare(means: Means): Promise<void> {
  const synced = await means.trees.open('1k')
  try {
    means.say('starts on 1k')
    const daemon = synced.workspace.daemon()
    await waitFor('the last watch', () => (watchesOf(daemon.pid) >= foldersOf(synced.shape) ? true : null))
    await untilIdle(daemon.pid)
    const { peakMb } = usageOf(daemon.pid)
    await daemon.stop()
    means.add({
      figure: 'peak memory, started and watching, 1,000 files, nothing to do',
      ours: megabytes(peakMb),
      theirs: '',
      ratio: null,
      aim: '≤ 85 MB',
      met: peakMb <= 85,
    })
  } finally {
    await synced.close()
  }
}

async function start(means: Means, name: TreeName, rounds: number, mostMb: number): Promise<void> {
  const synced = await means.trees.open(name)
  try {
    means.say(`starts on ${name}`)
    const { albumd, chokidar } = await inRounds<string, Started>(rounds, {
      albumd: () => startOurs(means, synced),
      chokidar: () => startTheirs(synced.tree),
    })
    const ours = albumd as OursStarted[]
    report(means, name, ours, chokidar!, mostMb)
    reportReading(
      means,
      synced,
      ours.map(run => run.reading),
    )
  } finally {
    await synced.close()
  }
}

function report(means: Means, name: string, ours: OursStarted[], theirs: Started[], mostMb: number): void {
  const timesOf = (each: Started[]) => each.map(run => run.seconds)
  const peakOf = (each: Started[]) => Math.max(...each.map(run => run.peakMb))
  means.add({
    figure: `all folders watched, ${name}`,
    ours: seconds(median(timesOf(ours))),
    theirs: `chokidar ${seconds(median(timesOf(theirs)))}`,
    ratio: ratioOf(timesOf(ours), timesOf(theirs)),
    aim: '',
    met: null,
  })
  means.add({
    figure: `peak memory, started and watching, ${name}`,
    ours: megabytes(peakOf(ours)),
    theirs: `chokidar ${megabytes(peakOf(theirs))}`,
    ratio: peakOf(ours) / peakOf(theirs),
    aim: `≤ ${mostMb} MB`,
    met: peakOf(ours) <= mostMb,
  })
  const uploads = ours.map(run => run.uploadSeconds)
  const before = ours.every(run => run.uploadSeconds < run.seconds)
  means.add({
    figure: `upload request for a picture that changed before the start, ${name}`,
    ours: seconds(median(uploads)),
    theirs: '',
    ratio: null,
    aim: 'does not wait for the watch',
    // Where all is watched sooner than a picture can be read, there was nothing to wait for.
    met: before || null,
  })
}

/** Until each folder has a watch. The memory is the most until it rests, having looked at everything again. */
async function startOurs(means: Means, synced: SyncedTree): Promise<OursStarted> {
  const { workspace, host, tree, shape } = synced
  changeOneFile(tree, shape)
  await sleep(SETTLED_MS)
  await host.seen()
  const daemon = workspace.daemon()
  const all = foldersOf(shape)
  await waitFor('the last watch', () => (watchesOf(daemon.pid) >= all ? true : null), { everyMs: 100 })
  const watched = nowMs()
  await untilIdle(daemon.pid)
  const asked = (await host.seen()).find(isCredential)
  if (!asked) throw new Error('the daemon did not ask to upload the picture that had changed')
  // Else a number of watches would prove little.
  const reading = await readingAfterEvents(means, synced, daemon)
  const { peakMb } = usageOf(daemon.pid)
  await daemon.stop()
  return {
    seconds: (watched - daemon.startedMs) / 1000,
    uploadSeconds: (asked.beganMs - daemon.startedMs) / 1000,
    peakMb,
    reading,
  }
}

async function startTheirs(tree: string): Promise<Started> {
  const began = nowMs()
  const chokidar = await startChokidar({ folder: tree, awaitWriteFinish: false })
  const ready = nowMs()
  const { peakMb } = usageOf(chokidar.pid)
  await chokidar.stop()
  return { seconds: (ready - began) / 1000, peakMb }
}
