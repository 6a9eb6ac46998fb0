import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answered, isCredential, isSending } from '../../hosts/observed-host.ts'
import { untilIdle } from '../../measure/idle.ts'
import { waitFor } from '../../measure/wait.ts'
import type { SyncedTree } from '../../ours/synced-tree.ts'
import { fileName } from '../../trees/shape.ts'
import { writePicture } from './write-picture.ts'

/** Milliseconds from a picture's close, one for each picture. */
export interface Latencies {
  /** Of pictures that were written at once, and of those written in pieces with pauses. */
  askedAtOnce: number[]
  askedInPieces: number[]
  delivered: number[]
  /** Uploads that were tried beyond one a picture: of halves, or twice. */
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
  const result: Latencies = { askedAtOnce: [], askedInPieces: [], delivered: [], superfluous: 0 }
  try {
    await untilIdle(daemon.pid)
    for (let number = 0; number < WARM_UP + pictures; number++) {
      await sleep(150 + Math.random() * 150)
      result.superfluous += (await host.seen()).filter(isUpload).length
      const inPieces = number % 3 === 2
      const one = await oneLatency(synced, join(folder, fileName(number)), inPieces)
      if (number < WARM_UP) continue
      if (inPieces) result.askedInPieces.push(one.asked)
      else result.askedAtOnce.push(one.asked)
      result.delivered.push(one.delivered)
      result.superfluous += one.uploads - 2
    }
    await untilIdle(daemon.pid)
    result.superfluous += (await host.seen()).filter(isUpload).length
    await daemon.stop()
    return result
  } finally {
    rmSync(folder, { recursive: true })
    await workspace.albumd(['sync'], { codes: [0, 3] })
  }
}

async function oneLatency({ host }: SyncedTree, path: string, inPieces: boolean) {
  const closed = await writePicture(path, inPieces)
  const uploads: Answered[] = []
  const sent = await waitFor('a picture', async () => {
    uploads.push(...(await host.seen()).filter(isUpload))
    return uploads.find(each => isSending(each) && each.status === 200)
  })
  return {
    asked: uploads.find(isCredential)!.beganMs - closed,
    delivered: sent.endedMs - closed,
    uploads: uploads.length,
  }
}

function isUpload(answered: Answered): boolean {
  return isCredential(answered) || isSending(answered)
}
