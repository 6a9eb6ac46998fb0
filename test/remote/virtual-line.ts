import { Line, type LineOptions } from '../../src/remote/line/line.ts'
import type { Bandwidth } from '../../src/remote/line/pacing.ts'
import { LineTooSlow, paced } from '../../src/remote/line/pacing.ts'
import { never } from './client-of.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What became of an upload. Times in milliseconds, `ms` from its credential to its end. */
export interface Upload {
  size: number
  result: 'arrived' | 'cut' | 'gave_way' | 'too_slow'
  began: number
  ended: number
}

/**
 * A line of so many bytes a second, shared piece by piece, with the system's buffers before it: each connection takes
 * `buffer` bytes at once, whatever the line.
 */
export class VirtualLine {
  bytesPerSecond: number
  readonly #buffer: number
  readonly #line: Line
  readonly #clock: VirtualTime['clock']
  readonly #lifetimeMs: number
  #freeAt = 0
  underway = 0
  /** The most at a time. */
  most = 0

  constructor(bytesPerSecond: number, buffer: number, options: LineOptions) {
    this.#clock = options.clock
    this.bytesPerSecond = bytesPerSecond
    this.#buffer = buffer
    this.#lifetimeMs = options.lifetimeMs
    this.#line = new Line(options)
  }

  async upload(size: number, bandwidth: Bandwidth): Promise<Upload> {
    const clock = this.#clock
    const entered = await this.#line.enter(size, never)
    const began = clock.now()
    const end = (result: Upload['result']): Upload => ({ size, result, began, ended: clock.now() })
    if (!entered || 'slow' in entered) return end('too_slow')
    const { passage } = entered
    passage.granted()
    this.most = Math.max(this.most, ++this.underway)
    try {
      const sent: { done: Promise<void>; bytes: number }[] = []
      let waiting = 0
      for await (const piece of paced(chunksOf(size), { bandwidth, passage, clock }, never)) {
        sent.push({ done: this.#pass(piece.byteLength), bytes: piece.byteLength })
        waiting += piece.byteLength
        while (waiting > this.#buffer) {
          const first = sent.shift()!
          await first.done
          waiting -= first.bytes
        }
        if (passage.leftMs() <= 0) return end('cut')
      }
      await Promise.all(sent.map(({ done }) => done))
      if (clock.now() - began > this.#lifetimeMs) return end('cut')
      passage.arrived()
      return end('arrived')
    } catch (error) {
      if (!(error instanceof LineTooSlow)) throw error
      return end(this.#line.tooSlowFor(size) ? 'too_slow' : 'gave_way')
    } finally {
      this.underway--
      passage.leave()
    }
  }

  /** Nothing gets through for so long. */
  pause(ms: number): void {
    this.#freeAt = Math.max(this.#freeAt, this.#clock.now()) + ms
  }

  #pass(bytes: number): Promise<void> {
    const now = this.#clock.now()
    this.#freeAt = Math.max(this.#freeAt, now) + (bytes * 1000) / this.bytesPerSecond
    return this.#clock.sleep(this.#freeAt - now, never)
  }
}

async function* chunksOf(size: number) {
  const chunk = 256 * 1024
  for (let at = 0; at < size; at += chunk) yield new Uint8Array(Math.min(chunk, size - at))
}
