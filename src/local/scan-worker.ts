import { parentPort, workerData } from 'node:worker_threads'
import type { FolderToLookAt } from './look.ts'
import { lookAtFolder } from './look-at-folder.ts'
import { realDisk } from './real-disk.ts'
import type { FromWorker } from './scan-pool.ts'

/** The thread of a scan lane. It answers each batch with its results, in the order in which batches come. */
const { root } = workerData as { root: string }
const port = parentPort!

function answer(message: FromWorker): void {
  port.postMessage(message)
}

port.on('message', (batch: FolderToLookAt[]) => {
  answer(batch.map(folder => lookAtFolder(realDisk, root, folder)))
})
answer('ready')
