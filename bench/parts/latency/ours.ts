import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answered, isCredential, isSending } from '../../hosts/observed-host.ts'
import { untilIdle } from '../../measure/idle.ts'
import { waitFor } from '../../measure/wait.ts'
import type { SyncedTree } from '../../ours/synced-tree.ts'
import { fileName } from '../../trees/shape.ts'
import { PICTURE_SIZE, writePicture } from './write-picture.ts'

/** Milliseconds from a picture's close, one for each picture. */
export interface Latencies {
  /** Of all pictures, and of those that were written in pieces with pauses. */
  asked: number[]
  askedInPieces: number[]
  delivered: number[]
  /** Pictures that were sent before all of their bytes were there. */
  halves: number
  /** Requests beyond the two a picture. */
  superfluous: number
}

/** New albums are made before the first picture counts. */
const WARM_UP = 5

/** One picture after the other, each to a daemon that rests. It works on the synced tree, and leaves it as it was. */
export async function oursLatencies(synced: SyncedTree, pictures: number): Promise<Latencies> {
  const { tree, host, workspace } = synced
  const folder = join(tree, 'latency')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const daemon = workspace.daemon()
  const times = { asked: [] as number[], askedInPieces: [] as number[], delivered: [] as number[] }
  const uploads: Answered[] = []
  try {
    await untilIdle(daemon.pid)
    for (let number = 0; number < WARM_UP + pictures; number++) {
      await sleep(100 + Math.random() * 100)
      uploads.push(...(await uploadsSeen(synced)))
      const inPieces = number % 3 === 2
      const one = await oneLatency(synced, join(folder, fileName(number)), inPieces)
      uploads.push(...one.uploads)
      if (number < WARM_UP) continue
      times.asked.push(one.asked)
      if (inPieces) times.askedInPieces.push(one.asked)
      times.delivered.push(one.delivered)
    }
    await untilIdle(daemon.pid)
    uploads.push(...(await uploadsSeen(synced)))
    await daemon.stop()
    return {
      ...times,
      halves: uploads.filter(each => isSending(each) && each.bytes < PICTURE_SIZE).length,
      superfluous: uploads.length - 2 * (WARM_UP + pictures),
    }
  } finally {
    rmSync(folder, { recursive: true })
    await workspace.albumd(['sync'], { codes: [0, 3] })
    await host.seen()
  }
}

async function oneLatency(synced: SyncedTree, path: string, inPieces: boolean) {
  const closed = await writePicture(path, inPieces)
  const uploads: Answered[] = []
  const sent = await waitFor('a picture', async () => {
    uploads.push(...(await uploadsSeen(synced)))
    return uploads.find(each => isSending(each) && each.status === 200)
  })
  return { asked: uploads.find(isCredential)!.beganMs - closed, delivered: sent.endedMs - closed, uploads }
}

async function uploadsSeen({ host }: SyncedTree): Promise<Answered[]> {
  return (await host.seen()).filter(each => isCredential(each) || isSending(each))
}
