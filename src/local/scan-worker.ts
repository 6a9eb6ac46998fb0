import { parentPort, workerData } from 'node:worker_threads'
import { realDisk } from './disk.ts'
import { type FolderToLookAt, lookAtFolder } from './look.ts'
import type { FromWorker } from './scan-pool.ts'

/** The thread of a ScanLane. It answers each batch with the batch's results, in the order in which the batches come. */
const { root } = workerData as { root: string }
const answer = (message: FromWorker) => parentPort!.postMessage(message)

parentPort!.on('message', (batch: FolderToLookAt[]) => {
  answer(batch.map(folder => lookAtFolder(realDisk, root, folder)))
})
answer('ready')
