import { parentPort, workerData } from 'node:worker_threads'
import { beginCounting } from './reach/lines.ts'

/** A batch of seeds to play, or null: tell what of the engine was run. */
export type Order = { seeds: readonly number[] } | null

const counted = workerData.reach ? await beginCounting() : null
const { openKits, playSeeds } = await import('./campaign.ts')
const kits = openKits()

parentPort!.on('message', async (order: Order) => {
  const answer = order ? await playSeeds(order.seeds, kits) : await counted!()
  parentPort!.postMessage(answer)
})
