import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { FolderResult, FolderToLookAt } from './look.ts'
import { lookAtFolder } from './look-at-folder.ts'
import { realDisk } from './real-disk.ts'

/** Looks at folders below one root, several at a time. */
export interface ScanPool {
  /**
   * One result for each folder, in the batch's order. The caller bounds the memory by the number of open batches. Two open
   * batches for each thread keep the threads busy: one is worked on while the results of the other are recorded.
   * Folders whose thread died are unknown. Rejects with a ScanError after `close`.
   */
  look(batch: readonly FolderToLookAt[]): Promise<FolderResult[]>
  /** Ends at once and rejects open batches. */
  close(): Promise<void>
}

export interface ScanPoolOptions {
  /** The number of threads. 0: the calling thread does all. */
  workers?: number
  /**
   * Whether the calling thread looks at folders until a worker has started. This is quicker, but a huge folder or a slow disk
   * then blocks the calling thread.
   */
  mayBlock?: boolean
}

/** A tree with at most so many folders is scanned before a worker could start. */
const FEW_FOLDERS = 64

export function openScanPool(root: string, options: ScanPoolOptions = {}): ScanPool {
  const { workers = Math.min(2, availableParallelism()), mayBlock = true } = options
  const lanes = new Set<ScanLane>()
  let asked = 0
  let closed = false

  function startLanes(): void {
    while (lanes.size < workers) {
      const lane: ScanLane = startScanLane(root, () => lanes.delete(lane))
      lanes.add(lane)
    }
  }

  function freestLane(): ScanLane | undefined {
    const usable = [...lanes].filter(lane => lane.ready() || !mayBlock)
    return usable.sort((one, other) => one.load() - other.load())[0]
  }

  async function lookHere(batch: readonly FolderToLookAt[]): Promise<FolderResult[]> {
    const results: FolderResult[] = []
    for (const [at, folder] of batch.entries()) {
      // Lets signals, timers and a worker's start be handled between two folders.
      await setImmediate()
      if (closed) throw new ScanError()
      const lane = freestLane()
      if (lane) return [...results, ...(await lane.look(batch.slice(at)))]
      results.push(lookAtFolder(realDisk, root, folder))
    }
    return results
  }

  return {
    async look(batch) {
      if (closed) throw new ScanError()
      asked += batch.length
      if (asked > FEW_FOLDERS || !mayBlock) startLanes()
      return (freestLane()?.look ?? lookHere)(batch)
    },
    async close() {
      closed = true
      await Promise.all([...lanes].map(lane => lane.stop()))
    },
  }
}

/** What a worker sends: 'ready' once, then the results of each batch. */
export type FromWorker = 'ready' | FolderResult[]

/** The scan was ended, so open batches get no results. */
class ScanError extends Error {
  override name = 'ScanError'
  readonly code = 'SCAN_CLOSED'

  constructor() {
    super('The scan was ended before it was complete.')
  }
}

interface OpenBatch extends PromiseWithResolvers<FolderResult[]> {
  batch: readonly FolderToLookAt[]
}

/** V8's young generation in megabytes. Looks are short-lived objects, so a small one saves memory and costs no time. */
const YOUNG_GENERATION_MB = 4

type ScanLane = ReturnType<typeof startScanLane>

/** Starts a thread that looks at folders below `root`. `ended` is called when the thread has ended for any reason. */
function startScanLane(root: string, ended: () => void) {
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
  // 'exit' is always the last event, so batches that came after the error are answered too.
  worker.on('exit', () => {
    const message = `The thread that looked at it has died (${cause}).`
    for (const { batch, resolve } of open.splice(0))
      resolve(batch.map(({ path }) => ({ path, kind: 'unknown', code: 'SCAN_WORKER_DIED', message })))
    ended()
  })

  return {
    /** When the thread dies, the folders of open batches are unknown, with the code SCAN_WORKER_DIED. Rejects with a ScanError. */
    look(batch: readonly FolderToLookAt[]): Promise<FolderResult[]> {
      worker.postMessage(batch)
      const answer = Promise.withResolvers<FolderResult[]>()
      open.push({ batch, ...answer })
      return answer.promise
    },
    /** How many batches are open. */
    load: () => open.length,
    /** Whether the thread has started. */
    ready: () => ready,
    /** Rejects all open batches. */
    async stop(): Promise<void> {
      for (const { reject } of open.splice(0)) reject(new ScanError())
      await worker.terminate()
    },
  }
}

/** The worker is TypeScript in the sources, and JavaScript in the package. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './scan-worker.ts' : './scan-worker.js', import.meta.url)
}
