import { Worker } from 'node:worker_threads'
import type { FolderResult, FolderToLookAt } from './look.ts'

/** What a worker says: once that it is there, then the results of batch after batch. */
export type FromWorker = 'ready' | FolderResult[]

/** Looks that will not come: the scan was ended. */
export class ScanError extends Error {
  override name = 'ScanError'
  readonly code = 'SCAN_CLOSED'
}

/** A worker thread and what was asked of it. */
export interface ScanLane {
  /** Folders that the thread died of are unknown, with the code SCAN_WORKER_DIED. Rejects with a ScanError. */
  look(batch: readonly FolderToLookAt[]): Promise<FolderResult[]>
  /** Batches not answered yet. */
  load(): number
  /** Whether the thread has started. */
  ready(): boolean
  /** Rejects what is open. */
  stop(): Promise<void>
}

interface OpenBatch extends PromiseWithResolvers<FolderResult[]> {
  batch: readonly FolderToLookAt[]
}

/** Small, for looks die young: this saves memory, and measured no time. */
const YOUNG_GENERATION_MB = 4

/** Starts a thread that looks at folders below `root`. `ended` is called when it has ended, for whatever reason. */
export function startScanLane(root: string, ended: () => void): ScanLane {
  const worker = new Worker(workerFile(), {
    workerData: { root },
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  const open: OpenBatch[] = []
  let ready = false
  let cause = 'it ended by itself'

  worker.on('message', (message: FromWorker) => {
    if (message === 'ready') ready = true
    else open.shift()?.resolve(message)
  })
  worker.on('error', error => {
    cause = error instanceof Error ? error.message : String(error)
  })
  // Always the last event. What was asked between the error and this is answered too.
  worker.on('exit', () => {
    const message = `The thread that looked at it has died (${cause}).`
    for (const { batch, resolve } of open.splice(0))
      resolve(batch.map(({ path }) => ({ path, kind: 'unknown', code: 'SCAN_WORKER_DIED', message })))
    ended()
  })

  return {
    look(batch) {
      worker.postMessage(batch)
      const answer = Promise.withResolvers<FolderResult[]>()
      open.push({ batch, ...answer })
      return answer.promise
    },
    load: () => open.length,
    ready: () => ready,
    async stop() {
      for (const { reject } of open.splice(0)) reject(scanClosed())
      await worker.terminate()
    },
  }
}

export function scanClosed(): ScanError {
  return new ScanError('The scan was ended before it was complete.')
}

/** Node runs the sources as they are, and the package as JavaScript. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './scan-worker.ts' : './scan-worker.js', import.meta.url)
}
