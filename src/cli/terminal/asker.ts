import { createInterface, type Interface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { printable } from '../../words/text.ts'
import { Problem } from '../problem.ts'
import { wrapped } from './fitted.ts'

export interface Question {
  option: string
  words: string
  /** The option's value. When it is given, nobody is asked. */
  given?: string | undefined
  /** The answer when a person enters an empty line, or when nobody can be asked. */
  fallback?: string | undefined
  secret?: boolean
  /** What is wrong with an answer and what would be right. Null: nothing is wrong. */
  check(answer: string): string | null | Promise<string | null>
}

export class Asker {
  readonly #out: NodeJS.WriteStream
  /** Null: nobody can be asked. */
  readonly #lines: Interface | null
  readonly #ended = new AbortController()
  #quiet = false

  constructor(input: NodeJS.ReadStream, out: NodeJS.WriteStream) {
    this.#out = out
    const typed = new Writable({
      write: (chunk, _, done) => {
        // After a hidden answer the line break is written here, because the typed line break is hidden too.
        if (!this.#quiet) out.write(chunk)
        else if (String(chunk).endsWith('\n')) out.write('\n')
        done()
      },
    })
    const isTerminal = input.isTTY && out.isTTY
    this.#lines = isTerminal ? createInterface({ input, output: typed, terminal: true }) : null
    this.#lines?.once('close', () => this.#ended.abort())
    this.#lines?.once('SIGINT', () => this.close())
  }

  get person(): boolean {
    return this.#lines !== null
  }

  /** An answer that passes the check. A person is asked until an answer passes. Throws Problem when there is no answer and
   * nobody can be asked, when an option's value fails the check, and after Ctrl-C and Ctrl-D. */
  async ask({ option, words, given, fallback, secret = false, check }: Question): Promise<string> {
    const answer = given ?? (this.person ? undefined : fallback)
    if (answer !== undefined) {
      const fault = await check(answer)
      if (fault !== null) throw new Problem(`--${option}: ${fault}`)
      return answer
    }
    if (!this.#lines)
      throw new Problem(`--${option} is needed where nobody can be asked. See albumd init --help`)
    const lines = this.#inLines(`${words}${fallback === undefined ? '' : ` [${printable(fallback)}]`}:`)
    // A line of its own for each but the last, because a person may type behind the last.
    const prompt = `${lines.pop()} `
    for (;;) {
      for (const line of lines) this.#out.write(`${line}\n`)
      const typed = (await this.#typed(this.#lines, prompt, secret)) || fallback
      const fault = typed === undefined ? 'an answer is needed' : await check(typed)
      if (fault === null) return typed!
      this.tell(fault)
    }
  }

  tell(said: string): void {
    for (const line of this.#inLines(printable(said), 2)) this.#out.write(`  ${line}\n`)
  }

  /** Text that stands for itself. A line break in it stays. */
  say(text: string): void {
    for (const line of text.split('\n').flatMap(each => this.#inLines(each))) this.#out.write(`${line}\n`)
  }

  /** A terminal of no columns says 0. */
  #inLines(text: string, indent = 0): string[] {
    return wrapped(text, this.#out.columns ? this.#out.columns - indent : undefined)
  }

  close(): void {
    this.#lines?.close()
  }

  async #typed(lines: Interface, prompt: string, secret: boolean): Promise<string> {
    const { signal } = this.#ended
    if (secret && !signal.aborted) this.#out.write(prompt)
    this.#quiet = secret
    try {
      return (await lines.question(secret ? '' : prompt, { signal })).trim()
    } catch (error) {
      throw signal.aborted ? new Problem('Broken off; nothing was written') : error
    } finally {
      this.#quiet = false
    }
  }
}
