import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { commandNamed } from '../commands/all.ts'
import type { Command, CommandOutput } from '../commands/command.ts'
import { type CommandQueue, NotNow } from '../commands/queue.ts'
import { version } from '../package.ts'
import { type Asking, asking, fingerprintOf, type Line, type Refusal, refusalOf } from './protocol.ts'

/** Bytes. */
const LARGEST_REQUEST = 64 * 1024
/** How many lines may wait for a client. One that sleeps must not fill the daemon's memory. */
const MOST_LINES_AHEAD = 100_000

/** What the control socket answers. `onAsked` is called with the name of each command. */
export function controlApp(queue: CommandQueue, onAsked: (what: string) => void): Hono {
  const app = new Hono()
  app.post('/commands/:name', bodyLimit({ maxSize: LARGEST_REQUEST }), async context => {
    const name = context.req.param('name')
    const command = commandNamed(name)
    const asked = asking.safeParse(await context.req.json().catch(() => null))
    const request = command?.request.safeParse(asked.data?.request)
    if (asked.success && asked.data.version !== version) return refused(context, otherVersion(asked.data))
    if (!command || !asked.success || !request?.success) return refused(context, NOT_UNDERSTOOD)
    onAsked(name)
    const answer = answerTo(queue, underThatConfig(command, asked.data.config), request.data)
    return new Response(answer, { headers: { 'content-type': 'application/x-ndjson' } })
  })
  return app
}

function refused(context: Context, refusal: Refusal): Response {
  return context.json(refusal, 400)
}

const NOT_UNDERSTOOD = {
  code: 'NOT_UNDERSTOOD',
  message: `the albumd that runs is ${version}, and does not know this command as it is`,
}

function otherVersion({ version: theirs }: Asking): Refusal {
  const message = `the albumd that runs is ${version}, this is ${theirs}; stop the one that runs, and start this one`
  return { code: 'OTHER_VERSION', message }
}

/** Refuses the command where the daemon runs with another config than the person who gave it. */
function underThatConfig(
  command: Command<unknown, unknown>,
  fingerprint: string,
): Pick<Command<unknown, unknown>, 'carryOut' | 'atOnce'> {
  return {
    ...command,
    async carryOut(context, request) {
      if (!command.anyConfig && fingerprintOf(context.config) !== fingerprint)
        throw new NotNow(
          'OTHER_CONFIG',
          `${context.config.state_dir}: the albumd that has this state runs with another config; ` +
            `let it read its config again (kill -HUP ${process.pid}), or name the one that it runs with`,
        )
      return command.carryOut(context, request)
    },
  }
}

/** The answer, line by line as the work goes on. A command that has begun goes on when its client disconnects. */
function answerTo<Request>(
  queue: CommandQueue,
  command: Pick<Command<Request, unknown>, 'carryOut' | 'atOnce'>,
  request: Request,
): ReadableStream<Uint8Array> {
  const left = new AbortController()
  const encoder = new TextEncoder()
  return new ReadableStream(
    {
      start(lines) {
        const write = (line: Line) => {
          if (left.signal.aborted) return
          if ((lines.desiredSize ?? 0) > -MOST_LINES_AHEAD)
            return lines.enqueue(encoder.encode(`${JSON.stringify(line)}\n`))
          left.abort()
          lines.error(new Error('nobody reads'))
        }
        const output: CommandOutput = {
          tell: told => {
            // Commands do not show this event, and there may be one for each picture.
            if (told.event !== 'change_found') write({ told })
          },
          say: say => write({ say }),
          progress: (done, albums) => write({ progress: { done, albums } }),
        }
        const end = (line: Line) => {
          write(line)
          if (!left.signal.aborted) lines.close()
          left.abort()
        }
        queue.ask(command, request, { output, left: left.signal, begun: () => write({ begun: true }) }).then(
          done => end({ done }),
          error => end({ failed: refusalOf(error) }),
        )
      },
      cancel: () => left.abort(),
    },
    { highWaterMark: 1 },
  )
}
