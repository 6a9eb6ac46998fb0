import { parentPort, workerData } from 'node:worker_threads'
import { realDisk } from './disk.ts'
import { type FolderResult, type FolderToLookAt, lookAtFolder, packed } from './look.ts'
import type { FromWorker, SentResult } from './scan-pool.ts'

/** The thread of a ScanLane. It answers each batch with the batch's results, in the order in which the batches come. */
const { root } = workerData as { root: string }
const answer = (message: FromWorker) => parentPort!.postMessage(message)

parentPort!.on('message', (batch: FolderToLookAt[]) => {
  answer(batch.map(folder => sent(lookAtFolder(realDisk, root, folder))))
})
answer('ready')

function sent(result: FolderResult): SentResult {
  if (result.kind !== 'different') return result
  const { files, ...look } = result.look
  return { ...result, look, files: packed(files) }
}
