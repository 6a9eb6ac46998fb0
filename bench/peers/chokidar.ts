import { join } from 'node:path'
import { type ChildServer, startChild } from '../hosts/child.ts'

/** A file that chokidar told of; see `nowMs`. */
export interface Heard {
  name: string
  atMs: number
}

export interface ChokidarOptions {
  folder: string
  awaitWriteFinish: boolean
}

/** chokidar in a process of its own. It resolves once chokidar is ready. */
export function startChokidar(options: ChokidarOptions): Promise<ChildServer<Heard[]>> {
  return startChild<Heard[]>(join(import.meta.dirname, 'chokidar-child.ts'), options)
}
