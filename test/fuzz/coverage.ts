import { type Profiler, Session } from 'node:inspector'

/** The code whose coverage steers: this project's, not its libraries'. */
const OURS = new URL('../../src/', import.meta.url).href

/** Which code of `src` has run in this thread, as V8 counts it. Jazzer.js needs a newer glibc than Debian 12 has. */
export class Coverage {
  readonly #session = new Session()
  /** For each function, and each of its characters: 1 when the character's block is noted as run. */
  readonly #noted = new Map<string, Uint8Array>()

  begin(): void {
    this.#session.connect()
    this.#ask('Profiler.enable')
    this.#ask('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Whether code has run since the last call that is not noted as run. `note`: this code is noted now. */
  isNew({ note }: { note: boolean }): boolean {
    const { result } = this.#ask('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType
    let isNew = false
    for (const { url, functions } of result)
      if (url.startsWith(OURS)) for (const each of functions) isNew = this.#look(url, each, note) || isNew
    return isNew
  }

  #look(url: string, { ranges }: Profiler.FunctionCoverage, note: boolean): boolean {
    const { startOffset: start, endOffset: end } = ranges[0]!
    const key = `${url} ${start}`
    const noted = this.#noted.get(key) ?? new Uint8Array(end - start)
    // An inner block comes after the block that holds it, and corrects it.
    const ran = new Uint8Array(end - start)
    for (const { startOffset, endOffset, count } of ranges)
      ran.fill(count > 0 ? 1 : 0, startOffset - start, endOffset - start)
    const isNew = ran.some((did, at) => did > noted[at]!)
    if (isNew && note)
      this.#noted.set(
        key,
        noted.map((did, at) => did | ran[at]!),
      )
    return isNew
  }

  /** A session in the same thread answers before `post` comes back. */
  #ask(method: string, parameters?: object): unknown {
    let answer: unknown
    this.#session.post(method, parameters, (error, result) => {
      if (error) throw error
      answer = result
    })
    return answer
  }
}
