import { connect, type PeerCertificate } from 'node:tls'
import { KEY_REMEDY } from '../../config/api-key.ts'
import type { HttpResult } from '../../remote/http/exchange.ts'
import { explainTransportError } from '../../remote/http/transport-errors.ts'
import { judgeAnswer } from './endpoints.ts'
import { type Finding, fail, pass, warn } from './finding.ts'
import type { AskedEndpoint, HostQuestions } from './host-questions.ts'

const DAY_MS = 86_400_000
/** A certificate that is renewed by itself is renewed earlier. */
const SOON_MS = 14 * DAY_MS
/** The Date header has whole seconds, and an answer takes its time. */
const CLOCK_WARN_MS = 60_000
/** An upload's credential lasts as long (§3). */
const CLOCK_FAIL_MS = 10 * 60_000

const ASKED: readonly AskedEndpoint[] = ['list', 'upload', 'create_album', 'delete']

/** Whether the host answers, and what its clock says against this one. Two findings, or one where it does not. */
export async function checkReach(
  questions: HostQuestions,
  where: string,
  signal: AbortSignal,
): Promise<Finding[]> {
  const began = Date.now()
  const answer = await questions.greet(signal)
  if (answer.kind !== 'answer') {
    const said = answer.kind === 'silence' ? answer.message : `${where} was not asked to the end`
    return [
      fail(
        'host',
        said,
        'check host.base_url, the network and the name server; albumd tries again by itself',
      ),
    ]
  }
  return [pass('host', `${where} answers`), checkClock(answer, (began + Date.now()) / 2)]
}

/** `now`: milliseconds since 1970, by this machine's clock, when the host answered. */
export function checkClock({ headers }: Extract<HttpResult, { kind: 'answer' }>, now: number): Finding {
  const told = Date.parse(headers.date ?? '')
  if (Number.isNaN(told)) return pass('clock', 'the host does not say what time it is')
  const off = now - told
  const said = `this machine's clock is ${Math.round(Math.abs(off) / 1000)} s ${off < 0 ? 'behind' : 'ahead of'} the host's`
  const remedy =
    'set the clock (timedatectl set-ntp true); uploads.hours, schedules and certificates go by it'
  if (Math.abs(off) >= CLOCK_FAIL_MS) return fail('clock', said, remedy)
  return Math.abs(off) >= CLOCK_WARN_MS ? warn('clock', said, remedy) : pass('clock', said)
}

/** Whether the host's certificate is good, and for how long. `ca`: PEM, or null for the authorities that Node knows. */
export async function checkTls(
  baseUrl: string,
  ca: string | null,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Finding> {
  const { protocol, hostname, port } = new URL(baseUrl)
  if (protocol !== 'https:') return pass('tls', 'plain HTTP, within this machine')
  const name = hostname.replace(/^\[|\]$/g, '')
  try {
    const { valid_to } = await certificateOf(name, Number(port || 443), ca, timeoutMs, signal)
    const left = Date.parse(valid_to) - Date.now()
    const said = `the certificate of ${name} is trusted, until ${new Date(valid_to).toISOString().slice(0, 10)}`
    if (left > SOON_MS) return pass('tls', said)
    return warn('tls', said, 'it ends soon: whoever runs the host must renew it')
  } catch (error) {
    const { code, message } = explainTransportError(error as Error, `${name}:${port || 443}`)
    const remedy =
      code === 'HOST_TLS'
        ? 'check host.ca_file and host.base_url, and the clock'
        : 'check host.base_url and the network'
    return fail('tls', message, remedy)
  }
}

function certificateOf(
  host: string,
  port: number,
  ca: string | null,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PeerCertificate> {
  const { promise, resolve, reject } = Promise.withResolvers<PeerCertificate>()
  const socket = connect({
    host,
    port,
    ...(ca !== null && { ca }),
    ...(isName(host) && { servername: host }),
  })
  const giveUp = () => socket.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' }))
  socket.setTimeout(timeoutMs, giveUp)
  if (signal.aborted) giveUp()
  signal.addEventListener('abort', giveUp)
  socket.once('close', () => signal.removeEventListener('abort', giveUp))
  socket.once('error', reject)
  socket.once('secureConnect', () => {
    resolve(socket.getPeerCertificate())
    socket.end()
  })
  return promise
}

/** SNI is for names alone. */
function isName(host: string): boolean {
  return !/^[\d.]+$/.test(host) && !host.includes(':')
}

/** Whether the key is good, and what the plan allows: one request to each endpoint. */
export async function* checkEndpoints(
  questions: HostQuestions,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  for (const endpoint of ASKED) {
    const outcome = await questions.ask(endpoint, signal)
    if (signal.aborted) return
    if (!outcome.ok && outcome.failure.remedy === 'key') {
      const { code, message } = outcome.failure
      yield { ...fail('key', `the host refused it: ${message} (${code})`, KEY_REMEDY), code }
      return
    }
    if (endpoint === ASKED[0] && (outcome.ok || outcome.failure.status !== undefined))
      yield pass('key', 'the host takes it')
    yield judgeAnswer(endpoint, outcome)
  }
}
