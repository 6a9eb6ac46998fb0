import { openSync, rmSync } from 'node:fs'
import { extname } from 'node:path'
import { OpenFile } from '../../local/open-file.ts'
import type { OpenPicture } from '../../local/picture-file.ts'
import { asItLies, asMade, CONVERTED, type Maker } from '../../local/sent-picture.ts'
import type { ByteSource } from '../../protocol/byte-reader.ts'
import { FORMATS } from '../../protocol/formats.ts'
import type { Picture } from '../../protocol/picture/picture.ts'
import type { Strip } from '../../protocol/picture/stripped/rules.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { Turns, WorkerFailure, type WorkerOptions, WorkerProcess } from '../worker-process.ts'
import { findLibHeif } from './libheif.ts'
import { HEIC_PROBLEMS, type HeicProblemCode } from './problem.ts'

/** A file in a mirror that is a whole HEIC with this SHA-256. `keep`: what of its metadata is taken out. `into`: where the JPEG is
 * written. */
export interface Task {
  mirror: string
  path: string
  hash: Buffer
  library: string
  keep: Strip
  into: string
}

/** `maker`: the versions of what made the JPEG. The same makers make the same bytes. `detail`: what exactly, as a library or the
 * system says it. */
export type Answer =
  | { kind: 'made'; size: number; hash: Buffer; width: number; height: number; maker: string }
  | { kind: 'impossible'; code: HeicProblemCode; detail: string }

/** The largest file that is converted, in bytes. */
const LARGEST = 64 * 2 ** 20
/** The most memory in KiB. Node reserves 600 MiB of it, and uses a tenth of that; 64 megapixels take 1,300 MiB. */
const MEMORY = 2.25 * 2 ** 20
/** `extname`: `.ts` in src, `.js` in the built program. */
const CHILD = new URL(`./heic-child${extname(import.meta.url)}`, import.meta.url)
const JPEG = { format: 'jpeg', mime: FORMATS.jpeg.mime } as const satisfies Partial<Picture>

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

  /** Sends HEICs as JPEGs. `strip`: what of their metadata is taken out; places always are. `changed`: as in `OpenOptions`. */
  readonly sending = (strip: Strip | 'none', changed: () => Error): Maker => {
    const keep = strip === 'all' ? 'all' : 'location'
    const [into, stop] = [this.#into, () => this.stop()]
    const send: Maker = async (open, { root: mirror, path }, cut) => {
      const { hash, look, verdict } = open
      if (cut.aborted) return whyNot('ended', 'interrupted')
      if (look.size > LARGEST) return whyNot('too_large', `${look.size} bytes`)
      if (verdict.kind !== 'closed') return whyNot('not_whole', `${verdict.part} at ${verdict.at}`)
      const library = this.#find()
      if (library === null) return whyNot('no_library', 'libheif-js')
      cut.addEventListener('abort', stop)
      try {
        const answer = await this.#worker.ask({ library, mirror, path, hash, keep, into })
        if (answer.kind === 'impossible') return whyNot(answer.code, answer.detail)
        const { size, width, height, maker } = answer
        const how = `${CONVERTED}.${keep}.${maker}`
        const made = { hash: answer.hash, picture: { ...JPEG, width, height }, how }
        return asMade(sourceIn(into, size, open), made, changed)
      } catch (error) {
        if (!(error instanceof WorkerFailure)) throw error
        return whyNot(error.code, error.message)
      } finally {
        cut.removeEventListener('abort', stop)
        rmSync(into, { force: true })
      }
    }
    return (...args) => this.#turns.take(() => send(...args))
  }

  stop(): void {
    this.#worker.stop()
  }
}

function whyNot(code: HeicProblemCode, detail: string): Reason {
  const why = because(`heic_${code}`, { detail })
  return because(HEIC_PROBLEMS[code].again ? 'not_converted_now' : 'not_converted', { why })
}

/** The bytes of a file, which may lose its name. It is sent, and so closed, together with its HEIC. */
function sourceIn(into: string, size: number, heic: OpenPicture): ByteSource {
  const file = new OpenFile(openSync(into, 'r'))
  const { close } = heic
  heic.close = () => {
    file.close()
    close()
  }
  const lengthOf = (at: number, length: number) => Math.max(0, Math.min(length, size - at))
  return { size, read: (at, length) => file.fill(Buffer.allocUnsafe(lengthOf(at, length)), at) }
}

/** For a dry run, which makes nothing. */
export const asJpegUnmade: Maker = async open => ({
  ...asItLies(open),
  picture: { ...JPEG, width: null, height: null },
})
