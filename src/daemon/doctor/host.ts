import { systemClock } from '../../protocol/clock.ts'
import { COMMON_HEADERS } from '../../remote/ask.ts'
import { parseAddress } from '../../remote/http/address.ts'
import type { HttpResult } from '../../remote/http/exchange.ts'
import { Http } from '../../remote/http/http.ts'
import { inWords } from '../../words/reasons.ts'
import { LONGEST_MS } from './endpoints.ts'
import { type Finding, fail, pass, warn } from './finding.ts'

/** The precision of a Date header. */
const GRAIN_MS = 1000
/** From this difference of the clocks on the check warns. A smaller one may come from the time that the answer needs. */
const CLOCK_WARN_MS = 60_000
/** From this difference of the clocks on the check fails. A credential is valid for as long (§3). */
const CLOCK_FAIL_MS = 10 * 60_000

/** The remedy fits also while an albumd runs: it goes on by itself once the host answers. */
const CHECK_ADDRESS = 'Check host.base_url and the network if the host stays away'

/** Whether the host answers, by which way, with a trusted certificate, and whether its clock is right. Asks {base_url} without
 * the key, which counts for no limit of §8. `ca`: PEM; null: the authorities that Node knows. */
export async function checkReach(
  baseUrl: string,
  ca: string | null,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Finding[]> {
  const address = parseAddress(new URL(baseUrl).href)!
  let way = ''
  const http = new Http({
    timeoutMs: Math.min(timeoutMs, LONGEST_MS),
    ...(ca !== null && { ca }),
    onConnected(proxy) {
      if (proxy !== null) way = `, by the proxy ${proxy}`
    },
  })
  const began = systemClock.wall()
  const greeting = { method: 'GET', address, headers: COMMON_HEADERS, limitMs: LONGEST_MS } as const
  const answer = await http.exchange(greeting, signal).finally(() => http.close())
  if (answer.kind === 'cancelled') return []
  const { host } = new URL(baseUrl)
  if (answer.kind === 'silence') {
    const { code, message } = answer
    // The words for a fault of TLS say what to do. In all other failures, nothing is known of the certificate.
    const fault =
      code === 'HOST_TLS'
        ? fail('tls', inWords(message))
        : fail('host', `${inWords(message)}${way}`, CHECK_ADDRESS)
    return [{ ...fault, code }]
  }
  const tls = address.secure ? `the certificate of ${host} is trusted` : 'plain HTTP, within this machine'
  const clock = checkClock(answer, (began + systemClock.wall()) / 2)
  return [pass('tls', tls), pass('host', `${host} answers${way}`), clock]
}

/** `now`: when the host answered, by this machine's clock. */
export function checkClock({ headers }: Extract<HttpResult, { kind: 'answer' }>, now: number): Finding {
  const told = Date.parse(headers.date ?? '')
  if (Number.isNaN(told)) return pass('clock', 'the host does not say what time it is')
  const off = now - told
  if (Math.abs(off) <= GRAIN_MS)
    return pass('clock', "this machine's clock agrees with the host's to within a second")
  const said = `this machine's clock is ${Math.round(Math.abs(off) / 1000)} s ${off < 0 ? 'behind' : 'ahead of'} the host's`
  const remedy =
    'Set the clock (timedatectl set-ntp true); uploads.hours, schedules and certificates depend on it'
  if (Math.abs(off) >= CLOCK_FAIL_MS) return fail('clock', said, remedy)
  return Math.abs(off) >= CLOCK_WARN_MS ? warn('clock', said, remedy) : pass('clock', said)
}
