import { openSync, rmSync } from 'node:fs'
import { extname } from 'node:path'
import { OpenFile } from '../../local/open-file.ts'
import type { Strip } from '../../protocol/picture/stripped/rules.ts'
import { Turns, WorkerFailure, type WorkerOptions, WorkerProcess } from '../worker-process.ts'
import { findLibHeif } from './libheif.ts'
import type { HeicProblemCode } from './problem.ts'

/** A file in a mirror, of which SHA-256 is known. */
export interface HeicFile {
  mirror: string
  path: string
  hash: Buffer
}

/** `into`: where the JPEG is written. */
export interface Task extends HeicFile {
  library: string
  keep: Strip
  into: string
}

/** `detail`: what exactly, as a library or the system says it. */
interface Impossible {
  kind: 'impossible'
  code: HeicProblemCode
  detail: string
}

/** `maker`: the versions of what made the JPEG. The same makers make the same bytes. */
interface Jpeg {
  kind: 'made'
  size: number
  hash: Buffer
  width: number
  height: number
  maker: string
}

export type Answer = Jpeg | Impossible
/** `file`: the JPEG, which has no name any more. Whoever asked for it closes it. */
export type Converted = (Jpeg & { how: 'jpeg92'; file: OpenFile }) | Impossible

/** The most memory in KiB. Node reserves 600 MiB of it, and uses a tenth of that; 64 megapixels take 1,300 MiB. */
const MEMORY = 2.25 * 2 ** 20
/** `extname`: `.ts` in src, `.js` in the built program. */
const CHILD = new URL(`./heic-child${extname(import.meta.url)}`, import.meta.url)

/** Makes JPEGs of HEICs, one at a time, in a process of its own. */
export class HeicConverter {
  readonly #into: string
  readonly #find: () => string | null
  readonly #worker: WorkerProcess<Task, Answer>
  readonly #turns = new Turns()

  /** `into`: a file that nobody else writes to. It is there only while a JPEG is made. */
  constructor(into: string, find = findLibHeif, options: WorkerOptions = {}) {
    this.#into = into
    this.#find = find
    this.#worker = new WorkerProcess(CHILD, { memory: MEMORY, ...options })
  }

  /** `keep`: what of its metadata is taken out. `cut`: ends it. */
  convert(file: HeicFile, keep: Strip, cut?: AbortSignal): Promise<Converted> {
    return this.#turns.take(() => this.#convert(file, keep, cut))
  }

  stop(): void {
    this.#worker.stop()
  }

  async #convert({ mirror, path, hash }: HeicFile, keep: Strip, cut?: AbortSignal): Promise<Converted> {
    if (cut?.aborted) return { kind: 'impossible', code: 'ended', detail: 'interrupted' }
    const library = this.#find()
    if (library === null) return { kind: 'impossible', code: 'no_library', detail: 'libheif-js' }
    const into = this.#into
    const stop = () => this.stop()
    cut?.addEventListener('abort', stop)
    try {
      const answer = await this.#worker.ask({ library, mirror, path, hash, keep, into })
      if (answer.kind === 'impossible') return answer
      return { ...answer, how: 'jpeg92', file: new OpenFile(openSync(into, 'r')) }
    } catch (error) {
      if (!(error instanceof WorkerFailure)) throw error
      return { kind: 'impossible', code: error.code, detail: error.message }
    } finally {
      cut?.removeEventListener('abort', stop)
      rmSync(into, { force: true })
    }
  }
}
