import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSink } from '../../hosts/sink.ts'
import { untilIdle } from '../../measure/idle.ts'
import { usageOf } from '../../measure/process-usage.ts'
import { nowMs, waitFor } from '../../measure/wait.ts'
import { openWorkspace } from '../../ours/workspace.ts'
import type { Means } from '../../part.ts'
import { startChokidar } from '../../peers/chokidar.ts'
import { megabytes, seconds } from '../../table/units.ts'
import { tinyPicture } from '../../trees/picture.ts'
import { fileName } from '../../trees/shape.ts'

const FOLDERS = 20
/** What has not come for so long was not noticed: only the next rescan would find it. */
const NO_MORE_MS = 60_000

/** So many files at once: more events than inotify keeps. Whose count of them is whole? */
export async function burst(means: Means, files: number): Promise<void> {
  means.say(`a burst of ${files} files`)
  const theirs = await chokidarHears(emptyFolders(means, 'burst-chokidar'), files)
  const ours = await albumdUploads(means, emptyFolders(means, 'burst'), files)
  means.add({
    figure: `new files that go unnoticed of a burst of ${files.toLocaleString('en-US')}`,
    ours: `${files - ours.arrived}`,
    theirs: `chokidar ${files - theirs}`,
    ratio: null,
    aim: '0',
    met: ours.arrived === files,
  })
  means.add({
    figure: `from the burst's begin until all of it is uploaded, as fast as it goes`,
    ours: `${seconds(ours.seconds)}, ${megabytes(ours.peakMb)}`,
    theirs: '',
    ratio: null,
    aim: '',
    met: null,
  })
}

function emptyFolders({ scratch }: Means, name: string): string {
  const root = join(scratch, name)
  for (let folder = 0; folder < FOLDERS; folder++)
    mkdirSync(join(root, `folder${folder}`), { recursive: true })
  return root
}

function write(root: string, files: number): void {
  for (let number = 0; number < files; number++)
    writeFileSync(join(root, `folder${number % FOLDERS}`, fileName(number)), tinyPicture(number))
}

/** How many of them chokidar tells of. */
async function chokidarHears(root: string, files: number): Promise<number> {
  const chokidar = await startChokidar({ folder: root, awaitWriteFinish: false })
  write(root, files)
  await untilIdle(chokidar.pid)
  const names = new Set((await chokidar.seen()).map(({ name }) => name))
  await chokidar.stop()
  rmSync(root, { recursive: true })
  return names.size
}

async function albumdUploads({ scratch }: Means, root: string, files: number) {
  const sink = await startSink()
  const { baseUrl } = sink.listening
  // One picture of each folder is there before: each has a watch then.
  for (let folder = 0; folder < FOLDERS; folder++)
    writeFileSync(join(root, `folder${folder}`, 'first.bmp'), tinyPicture(files + folder))
  const daemon = openWorkspace({ home: join(scratch, 'burst-albumd'), baseUrl, folder: root }).daemon()
  try {
    let arrived = -FOLDERS
    const count = async () => {
      arrived += (await sink.seen()).pictures
      return arrived
    }
    await waitFor('the first pictures', async () => ((await count()) === 0 ? true : null))
    await untilIdle(daemon.pid)
    const began = nowMs()
    write(root, files)
    const took = (await untilAllOrNoMore(count, files)) - began
    // More than there are would be as wrong as fewer.
    await sleep(2000)
    const { peakMb } = usageOf(daemon.pid)
    await daemon.stop()
    return { arrived: await count(), seconds: took / 1000, peakMb }
  } finally {
    await sink.stop()
    rmSync(root, { recursive: true })
  }
}

/** Waits until all have arrived, or none has for a while. Answers when the last one had; see `nowMs`. */
async function untilAllOrNoMore(count: () => Promise<number>, files: number): Promise<number> {
  let arrived = 0
  let last = nowMs()
  while (arrived < files && nowMs() - last < NO_MORE_MS) {
    await sleep(200)
    const now = await count()
    if (now > arrived) last = nowMs()
    arrived = now
  }
  return last
}
