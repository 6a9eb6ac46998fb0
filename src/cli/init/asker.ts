import { createInterface, type Interface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { EXIT } from '../exit-codes.ts'
import { Problem } from '../words/problem.ts'
import { printable } from '../words/wording.ts'

export interface Question {
  /** The option that gives the answer, without its dashes. */
  option: string
  words: string
  /** The option's value. When it is given, nobody is asked. */
  given?: string | undefined
  /** The answer that an empty line means. */
  fallback?: string
  /** Whether the answer is hidden while it is typed. */
  secret?: boolean
}

/** Checks an answer. Null, or what is wrong with it and what would be right. */
export type Check = (answer: string) => string | null | Promise<string | null>

/** The source of answers: a person at a terminal, or the options alone. */
export interface Asker {
  /** Whether a person can be asked. */
  readonly person: boolean
  /** An answer that passes its check. Throws Problem when there is none, or an option's value fails the check. */
  ask(question: Question, check: Check): Promise<string>
  close(): void
}

/** Answers from options alone. `missing` names all missing options at once. */
export function optionsOnly(): Asker {
  return { person: false, ask: (question, check) => takeGiven(question, check), close() {} }
}

async function takeGiven({ option, given, fallback }: Question, check: Check): Promise<string> {
  const answer = given ?? fallback
  if (answer === undefined)
    throw new Problem(EXIT.usage, `--${option} is needed where nobody can be asked; see albumd init --help.`)
  const fault = await check(answer)
  if (fault !== null) throw new Problem(EXIT.usage, `--${option}: ${fault}`)
  return answer
}

/** Asks at a terminal until the answer passes its check. Ctrl-C and Ctrl-D throw a Problem, and nothing is written. */
export function atTerminal(input: NodeJS.ReadStream, out: NodeJS.WriteStream): Asker {
  let quiet = false
  const typed = new Writable({
    write(chunk, _, done) {
      // A hidden answer is followed by a line break, because its own was hidden too.
      if (!quiet || String(chunk).endsWith('\n')) out.write(quiet ? '\n' : chunk)
      done()
    },
  })
  const lines = createInterface({ input, output: typed, terminal: true })
  const ended = new AbortController()
  lines.once('close', () => ended.abort())
  lines.once('SIGINT', () => lines.close())
  return {
    person: true,
    async ask(question, check) {
      if (question.given !== undefined) return takeGiven(question, check)
      for (;;) {
        const { words, fallback, secret = false } = question
        const prompt = `${words}${fallback === undefined ? '' : ` [${printable(fallback)}]`}: `
        const answer = await answerTo(prompt, secret)
        const fault =
          answer === '' && fallback === undefined ? 'an answer is needed' : await check(answer || fallback!)
        if (fault === null) return answer || fallback!
        out.write(`  ${printable(fault)}\n`)
      }
    },
    close: () => lines.close(),
  }

  async function answerTo(prompt: string, secret: boolean): Promise<string> {
    if (ended.signal.aborted) throw brokenOff()
    if (secret) {
      out.write(prompt)
      quiet = true
    }
    try {
      return (await ask(lines, secret ? '' : prompt, ended.signal)).trim()
    } finally {
      quiet = false
    }
  }
}

async function ask(lines: Interface, prompt: string, signal: AbortSignal): Promise<string> {
  try {
    return await lines.question(prompt, { signal })
  } catch (error) {
    throw signal.aborted ? brokenOff() : error
  }
}

function brokenOff(): Problem {
  return new Problem(EXIT.usage, 'broken off; nothing was written')
}
