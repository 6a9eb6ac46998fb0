import { Worker } from 'node:worker_threads'
import type { FolderResult, FolderToLookAt } from './look.ts'

/** What a worker says: once that it is there, then the results of batch after batch. */
export type FromWorker = 'ready' | FolderResult[]

/** Looks that will not come. `code`: SCAN_WORKER_DIED (a bug, or no memory) or SCAN_CLOSED. */
export class ScanError extends Error {
  override name = 'ScanError'
  readonly code: 'SCAN_WORKER_DIED' | 'SCAN_CLOSED'

  constructor(code: ScanError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** A worker thread and what was asked of it. */
export interface ScanLane {
  /** Rejects with a ScanError. */
  look(batch: readonly FolderToLookAt[]): Promise<FolderResult[]>
  /** Batches not answered yet. */
  load(): number
  /** Whether the thread has started. */
  ready(): boolean
  /** Rejects what is open. */
  stop(): Promise<void>
}

/** Small, for looks die young: this saves memory, and measured no time. */
const YOUNG_GENERATION_MB = 4

/** Starts a thread that looks at folders below `root`. `ended` is called when it has ended, for whatever reason. */
export function startScanLane(root: string, ended: () => void): ScanLane {
  const worker = new Worker(workerFile(), {
    workerData: { root },
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  const open: PromiseWithResolvers<FolderResult[]>[] = []
  let ready = false
  let cause: unknown

  function rejectAll(error: ScanError): void {
    for (const { reject } of open.splice(0)) reject(error)
  }

  worker.on('message', (message: FromWorker) => {
    if (message === 'ready') ready = true
    else open.shift()?.resolve(message)
  })
  worker.on('error', error => {
    cause = error
  })
  // Always the last event. What was asked between the error and this is rejected too.
  worker.on('exit', () => {
    rejectAll(new ScanError('SCAN_WORKER_DIED', 'A thread that looked at folders has died.', { cause }))
    ended()
  })

  return {
    look(batch) {
      worker.postMessage(batch)
      const answer = Promise.withResolvers<FolderResult[]>()
      open.push(answer)
      return answer.promise
    },
    load: () => open.length,
    ready: () => ready,
    async stop() {
      rejectAll(scanClosed())
      await worker.terminate()
    },
  }
}

export function scanClosed(): ScanError {
  return new ScanError('SCAN_CLOSED', 'The scan was ended before it was complete.')
}

/** Node runs the sources as they are, and the package as JavaScript. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './scan-worker.ts' : './scan-worker.js', import.meta.url)
}
