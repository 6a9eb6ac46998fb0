import type { z } from 'zod'
import { API_KEY_HEADER, type Endpoint } from '../protocol/endpoints.ts'
import { bareFailure, failure as failureEnvelope, failureWords } from '../protocol/records.ts'
import { because, said } from '../words/reasons.ts'
import { garbled, redirected, refused, unanswered, unusable } from './failures.ts'
import type { Attempt, Gate } from './gate/gate.ts'
import { NO_PACE, paceOf } from './gate/rate-window.ts'
import type { HostFailure, Outcome } from './host.ts'
import type { Address } from './http/address.ts'
import type { HttpRequest, HttpResult } from './http/exchange.ts'
import type { Http } from './http/http.ts'
import { oneLine, type Secrets } from './secrets.ts'

/** What all requests to the same host share. */
export interface Connection {
  /** {base_url} (§9.1). */
  base: Address
  /** {site_url} (§9.1). */
  site: Address
  apiKey: string
  secrets: Secrets
  /** The longest time in ms from a request's first byte to its answer's end. It ends an answer that is too slow. */
  answerLimitMs: number
  gate: Gate
  http: Http
}

/** `accept-encoding` asks for an uncompressed answer. Without it a host may compress its answers (RFC 9110, 12.5.3). */
export const COMMON_HEADERS = {
  'user-agent': 'albumd',
  accept: 'application/json',
  'accept-encoding': 'identity',
}

interface AnswerForm<T> {
  endpoint: Endpoint
  /** The schema of the answer to a request that succeeded. */
  schema: z.ZodType<T>
  /** Whether a well-formed answer can be the answer to this request. */
  fits?: (answer: T) => boolean
}

export interface Reading<T> extends AnswerForm<T> {
  /** host:port. */
  where: string
  /** Texts that must not appear in a message. Some hosts repeat them in their errors. */
  secrets: Iterable<string>
}

/** A request with the API key (§5.1), whose body is JSON or empty. */
export interface Question<T, Value> extends AnswerForm<T> {
  method: 'GET' | 'POST' | 'DELETE'
  below: Address
  /** The request's path and query, relative to `below`. */
  path: string
  json?: unknown
  /** Takes what the caller wants out of the answer to a request that succeeded. */
  read: (answer: T) => Value
  /** Asked just before each try is sent; see `Gate.pass`. */
  mayGo?: (() => boolean) | undefined
}

/** Asks the host through the gate. */
export async function ask<T, Value>(
  { apiKey, secrets, answerLimitMs, gate, http }: Connection,
  signal: AbortSignal,
  { endpoint, method, below, path, json, schema, fits, read, mayGo }: Question<T, Value>,
): Promise<Outcome<Value>> {
  const readOutcome = answerReader({ endpoint, schema, where: below.where, secrets, ...(fits && { fits }) })
  const request: HttpRequest = {
    method,
    address: { ...below, path: `${below.path.replace(/\/$/, '')}${path}` },
    headers: {
      ...COMMON_HEADERS,
      [API_KEY_HEADER]: apiKey,
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(json !== undefined && { body: Buffer.from(JSON.stringify(json)) }),
    limitMs: answerLimitMs,
    // Each credential is granted once. No other answer says which album it shows, or what was deleted.
    ...(endpoint === 'upload' && { isOwn: answer => readOutcome(answer).ok }),
  }
  const send = async (onStart: () => void) => {
    const result = await http.exchange({ ...request, onStart }, signal)
    return attemptOf(readOutcome(result), result)
  }
  const answer = await gate.pass(endpoint, signal, send, mayGo)
  return answer.ok ? { ok: true, value: read(answer.value) } : answer
}

/** Returns a function that reads answers, as `readAnswer`, and remembers the last: connection and gate both read it. */
export function answerReader<T>(reading: Reading<T>): (result: HttpResult) => Outcome<T> {
  let last: { result: HttpResult; outcome: Outcome<T> } | null = null
  return result => {
    if (last?.result !== result) last = { result, outcome: readAnswer(reading, result) }
    return last.outcome
  }
}

/** The part of an answer that the gate needs. */
export function attemptOf<T>(outcome: Outcome<T>, result: HttpResult): Attempt<T> {
  if (result.kind !== 'answer') return { outcome, status: null, pace: NO_PACE }
  const pace = paceOf(result.headers)
  // After DAILY_LIMIT_REACHED, `Retry-After` says when there is quota again. The gate does not wait for that.
  if (!outcome.ok && outcome.failure.remedy === 'quota' && pace.retryAfterMs !== null)
    outcome.failure.retryAfterMs = pace.retryAfterMs
  return { outcome, status: result.status, pace }
}

/** Turns a request's result into an outcome, as §1 says. An answer in another form is a failure of the host. */
function readAnswer<T>(reading: Reading<T>, result: HttpResult): Outcome<T> {
  const { endpoint, schema, where, secrets } = reading
  const failed = (failure: HostFailure): Outcome<T> => ({ ok: false, failure })
  if (result.kind !== 'answer') return failed(unanswered(endpoint, result))
  const { status, left } = result
  const misfit = (code: 'too_many_requests' | 'not_of_interface' | 'answer_of_another') =>
    failed(garbled(endpoint, left, status, ownWords() ?? because(code, { where, status })))
  const ownWords = () => {
    const words = status < 400 ? '' : failureWords.safeParse(json).data
    return words ? said(oneLine(words, secrets)) : null
  }

  if (status >= 300 && status < 400) return failed(redirected(endpoint, left, status, where))
  const json = parsed(result.body)
  // A success is recognized first. Most answers are one, and the search for a failure takes longer than the rest.
  const isDone = status < 300 && isSuccess(json)
  const isBare = endpoint === 'upload' && status >= 400
  const failure = isDone ? null : (isBare ? failureEnvelope.or(bareFailure) : failureEnvelope).safeParse(json)
  if (failure?.success) return failed(refused(endpoint, status, failure.data, secrets))
  // A proxy in front of the host may answer 429 in another form than §1's.
  if (status === 429) return misfit('too_many_requests')
  if (status < 200 || status > 299) return misfit('not_of_interface')
  const success = schema.safeParse(json)
  if (!success.success) {
    const field = success.error.issues[0]?.path.join('.')
    const message = because('answer_misfits', { where, status, ...(field !== undefined && { field }) })
    // The host issued a credential that can't be read. It is not asked again, because each credential costs quota.
    if (endpoint === 'upload' && isSuccess(json)) return failed(unusable(status, message))
    return failed(garbled(endpoint, left, status, message))
  }
  if (reading.fits?.(success.data) === false) return misfit('answer_of_another')
  // The host said that it stored the picture before the last byte had left, so it may have stored half of it.
  if (left !== 'all') return failed(garbled(endpoint, 'all', status, because('answered_early', { where })))
  return { ok: true, value: success.data }
}

/** §1: whether an answer says that the request was carried out. */
function isSuccess(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'success' in json && json.success === true
}

/** The JSON of a body, or undefined. Some hosts put a byte order mark before it (RFC 8259, 8.1). */
function parsed(body: Buffer): unknown {
  try {
    const text = body.toString('utf8')
    return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text)
  } catch {
    return undefined
  }
}
