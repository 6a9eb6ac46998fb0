import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deedNamed } from '../deeds/all.ts'
import type { Deed, Hearing } from '../deeds/deed.ts'
import { version } from '../version.ts'
import { type Errands, NotNow } from './errands.ts'
import { type Asking, asking, fingerprintOf, type Line, type Refusal, refusalOf } from './protocol.ts'

/** Bytes. */
const LARGEST_REQUEST = 64 * 1024
/** Lines that nobody takes; a client that sleeps must not fill the daemon's memory. */
const MOST_LINES_AHEAD = 100_000

/** The daemon's control, to be served on its socket. `onAsked` is told what a command wants. */
export function controlApp(errands: Errands, onAsked: (what: string) => void): Hono {
  const app = new Hono()
  app.post('/deeds/:name', bodyLimit({ maxSize: LARGEST_REQUEST }), async context => {
    const name = context.req.param('name')
    const deed = deedNamed(name)
    const asked = asking.safeParse(await context.req.json().catch(() => null))
    const request = deed?.request.safeParse(asked.data?.request)
    if (asked.success && asked.data.version !== version) return refused(context, otherVersion(asked.data))
    if (!deed || !asked.success || !request?.success) return refused(context, NOT_UNDERSTOOD)
    onAsked(name)
    const answer = answerTo(errands, underThatConfig(deed, asked.data.config), request.data)
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

/** A person means what their config says: under another one the deed is not done. */
function underThatConfig(
  deed: Deed<unknown, unknown>,
  fingerprint: string,
): Pick<Deed<unknown, unknown>, 'carryOut' | 'atOnce'> {
  return {
    ...deed,
    async carryOut(means, request) {
      if (!deed.anyConfig && fingerprintOf(means.config) !== fingerprint)
        throw new NotNow(
          'OTHER_CONFIG',
          `${means.config.state_dir}: the albumd that has this state runs with another config; ` +
            `let it read its config again (kill -HUP ${process.pid}), or name the one that it runs with`,
        )
      return deed.carryOut(means, request)
    },
  }
}

/** The lines of an answer, as they come. Whoever leaves does not stop what was begun. */
function answerTo<Request>(
  errands: Errands,
  deed: Pick<Deed<Request, unknown>, 'carryOut' | 'atOnce'>,
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
        const hearing: Hearing = {
          tell: told => {
            // What only a log shows is not worth its way: there may be one for each picture.
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
        errands
          .ask(deed, request, hearing, left.signal, () => write({ begun: true }))
          .then(
            done => end({ done }),
            error => end({ failed: refusalOf(error) }),
          )
      },
      cancel: () => left.abort(),
    },
    { highWaterMark: 1 },
  )
}
