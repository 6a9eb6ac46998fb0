import { getCompileCacheDir } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, extname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { realDisk } from './disk.ts'
import {
  type FolderLook,
  type FolderResult,
  type FolderToLookAt,
  lookAtFolder,
  type PackedFiles,
  unpacked,
} from './look.ts'

export interface ScanPoolOptions {
  /** The number of threads. 0: the calling thread looks at all folders. */
  workers?: number
  /** Whether the calling thread looks at folders too: until a worker has started, and in place of the last worker while it has
   * nothing else to do. This is quicker, but a huge folder or a slow disk then blocks the calling thread, once. */
  mayBlock?: boolean
}

/** A tree of at most so many folders gets no new threads: it is scanned before a thread could start. */
const FEW_FOLDERS = 64

const WORKERS = Math.min(2, availableParallelism())

/** A worker with so many open batches is busy. */
const BUSY = 2

/** A look that takes so many milliseconds shows that the disk is slow or the folder huge. */
const LONG_MS = 100

/** The threads that were started before their pool was opened, by root. */
const early = new Map<string, ScanLane>()

/** Starts a thread for a root whose pool is opened later. The thread starts on another core while this thread loads the rest
 * of the program. Until the pool uses the thread, it does not keep the process running. */
export function startThread(root: string): void {
  if (!early.has(root)) early.set(root, new ScanLane(root))
}

/** Opens the pool that looks at folders below a root. `ended`: when it is aborted, the threads end and open batches reject. */
export function openScanPool(root: string, ended: AbortSignal, options: ScanPoolOptions = {}) {
  const { workers = WORKERS, mayBlock = true } = options
  const lanes = new Set<ScanLane>()
  const first = early.get(root)
  if (first) use(first)
  early.delete(root)
  let asked = 0
  let isSlow = false
  ended.addEventListener('abort', () => {
    for (const lane of lanes) lane.stop()
  })

  function use(lane: ScanLane): void {
    lanes.add(lane)
    lane.use(() => lanes.delete(lane))
  }

  /** The lane that looks at the batch next. Undefined: the calling thread looks. */
  function laneFor(batch: readonly FolderToLookAt[]): ScanLane | undefined {
    const usable = [...lanes].filter(({ isReady }) => isReady || !mayBlock)
    const freest = usable.sort((one, other) => one.open.length - other.open.length)[0]
    return freest && freest.open.length >= BUSY && helps(batch) ? undefined : freest
  }

  /** Whether the calling thread looks in place of the last worker, whose start takes as long as looking at 10,000 files. While
   * folders are new or have changed, the calling thread is busy with recording them. */
  function helps(batch: readonly FolderToLookAt[]): boolean {
    return mayBlock && !isSlow && batch.every(({ digest }) => digest !== null)
  }

  async function lookHere(batch: readonly FolderToLookAt[]): Promise<FolderResult[]> {
    const results: FolderResult[] = []
    for (const [at, folder] of batch.entries()) {
      // The event loop turns between two folders, so that signals, timers and the start of a worker are handled.
      await setImmediate()
      if (ended.aborted) throw scanClosed()
      const lane = laneFor(batch)
      if (lane) return [...results, ...(await lane.look(batch.slice(at)))]
      const began = performance.now()
      results.push(lookAtFolder(realDisk, root, folder))
      isSlow ||= performance.now() - began > LONG_MS
    }
    return results
  }

  return {
    /** One result for each folder, in the batch's order. The caller limits the memory by limiting the number of open batches.
     * With two open batches for each thread no thread is idle: it works on one batch while the caller records the results of
     * the other. When a thread dies, the results of its folders are 'unknown'. Rejects with the code SCAN_CLOSED once the
     * scan has ended. */
    async look(batch: readonly FolderToLookAt[]): Promise<FolderResult[]> {
      if (ended.aborted) throw scanClosed()
      asked += batch.length
      const needed = helps(batch) ? Math.min(workers, Math.max(1, workers - 1)) : workers
      if (asked > FEW_FOLDERS || !mayBlock) while (lanes.size < needed) use(new ScanLane(root))
      return laneFor(batch)?.look(batch) ?? lookHere(batch)
    },
  }
}

/** What a worker sends: 'ready' once, then the results of each batch. */
export type FromWorker = 'ready' | SentResult[]

/** A result, in which the look's files are packed. */
export type SentResult =
  | Exclude<FolderResult, { kind: 'different' }>
  | {
      path: string
      kind: 'different'
      digest: string | null
      look: Omit<FolderLook, 'files'>
      files: PackedFiles
    }

function received(result: SentResult): FolderResult {
  if (result.kind !== 'different') return result
  const { files, look, ...rest } = result
  return { ...rest, look: { ...look, files: unpacked(files) } }
}

function scanClosed(): Error {
  return Object.assign(new Error('The scan was ended before it was complete.'), { code: 'SCAN_CLOSED' })
}

interface OpenBatch extends PromiseWithResolvers<FolderResult[]> {
  batch: readonly FolderToLookAt[]
}

/** The size of V8's young generation, in megabytes. Looks live shortly, so a small one saves memory and costs no time. */
const YOUNG_GENERATION_MB = 4

/** The worker's file: TypeScript in the sources, JavaScript in the package. */
const WORKER = new URL(`./scan-worker${extname(import.meta.url)}`, import.meta.url)

/** A thread that looks at folders below `root`. */
class ScanLane {
  readonly open: OpenBatch[] = []
  /** Whether the thread has started. */
  isReady = false
  readonly #worker: Worker
  #ended = () => {}

  constructor(root: string) {
    const compiled = getCompileCacheDir()
    this.#worker = new Worker(WORKER, {
      workerData: { root },
      // A thread does not take over the process's cache of compiled code, and starts a seventh slower without it.
      env: compiled ? { ...process.env, NODE_COMPILE_CACHE: dirname(compiled) } : process.env,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    this.#worker.unref()
    let cause = 'it ended by itself'
    this.#worker.on('message', (message: FromWorker) => {
      if (message === 'ready') this.isReady = true
      else this.open.shift()?.resolve(message.map(received))
    })
    this.#worker.on('error', error => {
      cause = error instanceof Error ? error.message : String(error)
    })
    // 'exit' is always the last event. So batches that were sent after the error are answered here too.
    this.#worker.on('exit', () => {
      const message = `The thread that looked at it has died (${cause}).`
      for (const { batch, resolve } of this.open.splice(0))
        resolve(batch.map(({ path }) => ({ path, kind: 'unknown', code: 'SCAN_WORKER_DIED', message })))
      this.#ended()
    })
  }

  /** Takes the thread into a pool, so that it keeps the process running. `ended` is called when it has ended. */
  use(ended: () => void): void {
    this.#ended = ended
    this.#worker.ref()
  }

  /** Sends a batch. When the thread dies, the results are 'unknown', with the code SCAN_WORKER_DIED. */
  look(batch: readonly FolderToLookAt[]): Promise<FolderResult[]> {
    this.#worker.postMessage(batch)
    const answer = Promise.withResolvers<FolderResult[]>()
    this.open.push({ batch, ...answer })
    return answer.promise
  }

  /** Ends the thread. The promises of all open batches reject. */
  stop(): void {
    for (const { reject } of this.open.splice(0)) reject(scanClosed())
    void this.#worker.terminate()
  }
}
