import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Config } from '../../config/schema.ts'
import type { CommandName, RequestOf, ResultOf } from '../commands/all.ts'
import { type CommandOutput, Refused } from '../commands/command.ts'
import { version } from '../package.ts'
import { fingerprintOf } from '../state/claim.ts'
import { closedState } from '../state/state-problem.ts'
import type { Asking, Line, Refusal } from './protocol.ts'

export interface RemoteOutput extends CommandOutput {
  begun(): void
}

/** Gives a command to the daemon at this socket. Null: no daemon is there. Throws Refused, with the code LEFT on `leave`. */
export async function askDaemon<N extends CommandName>(
  file: string,
  config: Config,
  name: N,
  asked: RequestOf<N>,
  output: RemoteOutput,
  leave: AbortSignal,
): Promise<{ done: ResultOf<N> } | null> {
  const body: Asking = { version, config: fingerprintOf(config), request: asked }
  let answer: IncomingMessage | null = null
  let hasBegun = false
  const begun = () => {
    hasBegun = true
    output.begun()
  }
  try {
    answer = await post(file, `/commands/${name}`, JSON.stringify(body), leave)
    if (answer === null) return null
    if (answer.statusCode !== 200) throw await refusalIn(answer)
    for await (const text of linesOf(answer)) {
      const line = JSON.parse(text) as Line
      if ('done' in line) return line as { done: ResultOf<N> }
      if ('failed' in line) throw refused(line.failed)
      hear(line, { ...output, begun })
    }
  } catch (error) {
    // Whether the connection was lost after it was made, because the daemon ended.
    const isCutOff = answer !== null || CLOSED.has((error as { code?: unknown }).code)
    if (error instanceof Refused || !(leave.aborted || isCutOff)) throw error
  } finally {
    answer?.destroy()
  }
  throw leave.aborted
    ? new Refused(
        'LEFT',
        hasBegun
          ? 'Left: the daemon goes on with the command. "albumd status" shows how far it is'
          : 'Left before the daemon began with the command, so it is not done. Run the command again',
      )
    : new Refused(
        'DAEMON_ENDED',
        'The daemon ended before this was done. Run the command again; what was done is recorded',
      )
}

function hear(line: Exclude<Line, { done: unknown } | { failed: Refusal }>, output: RemoteOutput): void {
  if ('told' in line) output.emit(line.told)
  else if ('say' in line) output.say(line.say)
  else if ('progress' in line) output.progress(line.progress.done, line.progress.albums)
  else output.begun()
}

async function refusalIn(answer: IncomingMessage): Promise<Refused> {
  const unknown = { code: null, message: `the daemon answered ${answer.statusCode}` }
  return refused((await json(answer).catch(() => unknown)) as Refusal)
}

function refused({ code, message }: Refusal): Refused {
  return new Refused(code ?? undefined, message)
}

/** The errors that mean that no daemon listens: there is no socket, or one that a killed daemon left behind. */
const NOBODY: ReadonlySet<unknown> = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'ENOTSOCK'])
const CLOSED: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE'])

async function post(
  file: string,
  path: string,
  body: string,
  signal: AbortSignal,
): Promise<IncomingMessage | null> {
  try {
    // A daemon that sleeps is not there yet to hear that its asker has left. So it gets the command only once it answers.
    const length = Buffer.byteLength(body)
    const headers = { 'content-type': 'application/json', 'content-length': length, expect: '100-continue' }
    const asked = request({ socketPath: file, method: 'POST', path, headers, signal })
    asked.once('continue', () => asked.end(body))
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return answer
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (NOBODY.has(code)) return null
    throw code === 'EACCES' ? closedState(file) : error
  }
}

async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  answer.setEncoding('utf8')
  for await (const chunk of answer) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop()!
    yield* lines
  }
}
