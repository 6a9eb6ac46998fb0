import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import type { FolderResult, FolderToLookAt } from './look.ts'
import { lookAtFolder } from './look-at-folder.ts'
import { realDisk } from './real-disk.ts'
import { type ScanLane, scanClosed, startScanLane } from './scan-lane.ts'

/** Looks at folders below one root, several at a time. */
export interface ScanPool {
  /**
   * One result a folder, in the batch's order. Nothing is held back: memory is bounded by who asks. Two open batches
   * a thread keep all of them busy, the second at hand while the first one's results are recorded.
   * Folders whose thread died are unknown, like those that can't be read. Rejects with a ScanError once it is closed.
   */
  look(batch: readonly FolderToLookAt[]): Promise<FolderResult[]>
  /** Ends at once: what is open is rejected. */
  close(): Promise<void>
}

export interface ScanPoolOptions {
  /** Threads. 0: all is done in the calling one. */
  workers?: number
  /**
   * Whether the calling thread looks for itself as long as no worker has started. Quicker, but a huge folder or a
   * slow disk then holds up whatever else the thread has to do.
   */
  mayBlock?: boolean
}

/** A tree of so few folders is done before a worker has started. */
const FEW_FOLDERS = 64

export function openScanPool(root: string, options: ScanPoolOptions = {}): ScanPool {
  const { workers = Math.min(2, availableParallelism()), mayBlock = true } = options
  const lanes = new Set<ScanLane>()
  let asked = 0
  let closed = false

  function startLanes(): void {
    while (lanes.size < workers) {
      const lane = startScanLane(root, () => lanes.delete(lane))
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
      // Signals, timers and a worker's start come in between.
      await setImmediate()
      if (closed) throw scanClosed()
      const lane = freestLane()
      if (lane) return [...results, ...(await lane.look(batch.slice(at)))]
      results.push(lookAtFolder(realDisk, root, folder))
    }
    return results
  }

  return {
    async look(batch) {
      if (closed) throw scanClosed()
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
