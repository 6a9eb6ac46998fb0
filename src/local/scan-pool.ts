import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { realDisk } from './disk.ts'
import { type FolderResult, type FolderToLookAt, lookAtFolder } from './look.ts'

/** Looks at folders below one root, several at a time. */
export interface ScanPool {
  /**
   * One result for each folder, in the batch's order. The caller bounds the memory by the number of open batches. Two
   * open batches for each thread keep the threads busy: a thread works on one batch while the results of the other
   * batch are recorded. Folders whose thread died are unknown. Rejects with the code SCAN_CLOSED once the scan has ended.
   */
  look(batch: readonly FolderToLookAt[]): Promise<FolderResult[]>
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

const WORKERS = Math.min(2, availableParallelism())

/** Threads that were started before their pool was opened. */
const early = new Map<string, ScanLane[]>()

/**
 * Starts the threads for a root whose pool is opened later, so that they start on another core while this thread loads
 * the rest of the program. They do not keep the process running.
 */
export function startThreads(root: string): void {
  early.set(
    root,
    Array.from({ length: WORKERS }, () => new ScanLane(root)),
  )
}

/** When `ended` is aborted, the threads end at once, and open batches are rejected. */
export function openScanPool(root: string, ended: AbortSignal, options: ScanPoolOptions = {}): ScanPool {
  const { workers = WORKERS, mayBlock = true } = options
  const lanes = new Set<ScanLane>()
  for (const lane of early.get(root) ?? []) use(lane)
  early.delete(root)
  let asked = 0
  ended.addEventListener('abort', () => {
    for (const lane of lanes) lane.stop()
  })

  function use(lane: ScanLane): void {
    lanes.add(lane)
    lane.use(() => lanes.delete(lane))
  }

  function freestLane(): ScanLane | undefined {
    const usable = [...lanes].filter(({ isReady }) => isReady || !mayBlock)
    return usable.sort((one, other) => one.open.length - other.open.length)[0]
  }

  async function lookHere(batch: readonly FolderToLookAt[]): Promise<FolderResult[]> {
    const results: FolderResult[] = []
    for (const [at, folder] of batch.entries()) {
      // Lets signals, timers and a worker's start be handled between two folders.
      await setImmediate()
      if (ended.aborted) throw scanClosed()
      const lane = freestLane()
      if (lane) return [...results, ...(await lane.look(batch.slice(at)))]
      results.push(lookAtFolder(realDisk, root, folder))
    }
    return results
  }

  return {
    async look(batch) {
      if (ended.aborted) throw scanClosed()
      asked += batch.length
      if (asked > FEW_FOLDERS || !mayBlock) while (lanes.size < workers) use(new ScanLane(root))
      return freestLane()?.look(batch) ?? lookHere(batch)
    },
  }
}

/** What a worker sends: 'ready' once, then the results of each batch. */
export type FromWorker = 'ready' | FolderResult[]

/** The scan was ended, so open batches get no results. */
function scanClosed(): Error {
  return Object.assign(new Error('The scan was ended before it was complete.'), { code: 'SCAN_CLOSED' })
}

interface OpenBatch extends PromiseWithResolvers<FolderResult[]> {
  batch: readonly FolderToLookAt[]
}

/**
 * V8's young generation in megabytes. Looks are short-lived objects, so a small young generation saves memory and costs
 * no time.
 */
const YOUNG_GENERATION_MB = 4

/** The worker is TypeScript in the sources, and JavaScript in the package. */
const WORKER = new URL(`./scan-worker${extname(import.meta.url)}`, import.meta.url)

/** A thread that looks at folders below `root`. */
class ScanLane {
  readonly open: OpenBatch[] = []
  /** Whether the thread has started. */
  isReady = false
  readonly #worker: Worker
  #ended = () => {}

  constructor(root: string) {
    this.#worker = new Worker(WORKER, {
      workerData: { root },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    this.#worker.unref()
    let cause = 'it ended by itself'
    this.#worker.on('message', (message: FromWorker) => {
      if (message === 'ready') this.isReady = true
      else this.open.shift()?.resolve(message)
    })
    this.#worker.on('error', error => {
      cause = error instanceof Error ? error.message : String(error)
    })
    // 'exit' is always the last event, so batches that came after the error are answered too.
    this.#worker.on('exit', () => {
      const message = `The thread that looked at it has died (${cause}).`
      for (const { batch, resolve } of this.open.splice(0))
        resolve(batch.map(({ path }) => ({ path, kind: 'unknown', code: 'SCAN_WORKER_DIED', message })))
      this.#ended()
    })
  }

  /** Keeps the process running from now on. `ended` is called when the thread has ended for any reason. */
  use(ended: () => void): void {
    this.#ended = ended
    this.#worker.ref()
  }

  /** When the thread dies, the folders of open batches are unknown, with the code SCAN_WORKER_DIED. */
  look(batch: readonly FolderToLookAt[]): Promise<FolderResult[]> {
    this.#worker.postMessage(batch)
    const answer = Promise.withResolvers<FolderResult[]>()
    this.open.push({ batch, ...answer })
    return answer.promise
  }

  /** Rejects all open batches. */
  stop(): void {
    for (const { reject } of this.open.splice(0)) reject(scanClosed())
    void this.#worker.terminate()
  }
}
