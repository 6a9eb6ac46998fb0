import { createRequire } from 'node:module'
import { orNull } from '../or-null.ts'
import { HeicProblem } from './problem.ts'

/** The library's file, where a person has installed it (`npm install --global libheif-js`): beside albumd, where npm of Debian
 * installs, or where $NODE_PATH says. Null: nobody has. albumd does not bring it: it has a licence of its own, and patents lie
 * on what it decodes. */
export function findLibHeif(): string | null {
  const from = { paths: [import.meta.dirname, '/usr/local/lib'] }
  return orNull(() => createRequire(import.meta.url).resolve('libheif-js/wasm-bundle', from))
}

/** The library's module, of which each function of heif.h is a property. Its memory is another one whenever it has grown. */
interface Module {
  readonly HEAPU8: Uint8Array
  readonly HEAPU32: Uint32Array
  readonly [name: `_${string}`]: (...numbers: number[]) => number
}

/** Older ones decode in other ways, or lack functions. */
const OLDEST = [1, 23]
/** Codes of a `heif_error`: no memory, which is also said of sizes that nothing could have; and which end or limit was met. */
const NO_MEMORY = 6
const [END_OF_DATA, LIMIT] = [100, 1000]

/** Text that may hold bytes of a picture, for a person. */
export function plain(text: Buffer): string {
  return text.toString('latin1').replace(/[^\x20-\x7e]/g, '?')
}

/** libheif's C functions, with its memory. Pointers and structures are numbers. */
export class LibHeif {
  readonly version: string
  /** Where a function writes what it returns besides an error. */
  readonly out: number
  readonly #module: Module
  readonly #error: number
  readonly #opened: (() => void)[] = []

  /** Throws a `HeicProblem` when there is no such library, or an older one. */
  constructor(file: string) {
    this.#module = createRequire(import.meta.url)(file)
    const number = this.#module._heif_get_version_number?.() ?? 0
    const [major, minor] = [number >>> 24, (number >>> 16) & 0xff]
    this.version = `${major}.${minor}.${(number >>> 8) & 0xff}`
    if (major !== OLDEST[0] || minor < OLDEST[1]!)
      throw new HeicProblem('no_library', `libheif ${this.version}`)
    this.out = this.#module._malloc!(16)
    this.#error = this.#module._malloc!(16)
  }

  call(name: string, ...numbers: number[]): number {
    return this.#module[`_heif_${name}`]!(...numbers)
  }

  /** Calls a function that returns a `heif_error`. Throws a `HeicProblem` for the picture's fault. */
  run(name: string, ...numbers: number[]): void {
    const fault = this.fault(name, ...numbers)
    if (fault === null) return
    const { code, subcode, message } = fault
    if (subcode === END_OF_DATA) throw new HeicProblem('not_whole', message)
    if (subcode === LIMIT) throw new HeicProblem('too_large', message)
    if (code === NO_MEMORY && subcode === 0) throw new Error(message)
    throw new HeicProblem('not_understood', message)
  }

  fault(name: string, ...numbers: number[]): { code: number; subcode: number; message: string } | null {
    this.call(name, this.#error, ...numbers)
    const [code, subcode, text] = [0, 4, 8].map(at => this.word(this.#error + at)) as [number, number, number]
    if (code === 0) return null
    const { HEAPU8 } = this.#module
    return { code, subcode, message: plain(Buffer.from(HEAPU8.subarray(text, HEAPU8.indexOf(0, text)))) }
  }

  word(at: number): number {
    return this.#module.HEAPU32[at >>> 2]!
  }

  /** A view of the library's memory, until it grows. */
  bytes(at: number, length: number): Buffer {
    return Buffer.from(this.#module.HEAPU8.buffer as ArrayBuffer, at, length)
  }

  /** Memory until `close`. */
  room(length: number): number {
    const at = this.#module._malloc!(length)
    if (at === 0) throw new Error(`no memory for ${length} bytes`)
    this.later(() => this.#module._free!(at))
    return at
  }

  put(bytes: Uint8Array): number {
    const at = this.room(bytes.byteLength)
    this.#module.HEAPU8.set(bytes, at)
    return at
  }

  /** Calls this when `close` is called. */
  later(end: () => void): void {
    this.#opened.push(end)
  }

  close(): void {
    for (const end of this.#opened.splice(0).reverse()) end()
  }
}
