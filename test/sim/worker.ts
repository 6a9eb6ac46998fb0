import { parentPort, workerData } from 'node:worker_threads'
import { openKits, playSeeds, range, type Tally } from './campaign.ts'

/** Plays batches of seeds, each as its parent asks for it: {from, count} is answered with the tally. */
const kits = openKits()

parentPort!.on('message', async ({ from, count }: { from: number; count: number }) => {
  const tally: Tally = await playSeeds(range(from, count), kits)
  parentPort!.postMessage({ worker: workerData, tally })
})
