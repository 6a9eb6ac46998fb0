import { randomUUID } from 'node:crypto'
import type { Config } from '../../config/schema.ts'
import { type Endpoint, PATHS, PRESIGN_PATH } from '../../protocol/endpoints.ts'
import { answers } from '../../protocol/records.ts'
import { COMMON_HEADERS, type Question, readAnswer, requestOf } from '../../remote/ask.ts'
import type { ListPage, Outcome } from '../../remote/host.ts'
import { type Address, parseAddress } from '../../remote/http/address.ts'
import type { HttpResult } from '../../remote/http/exchange.ts'
import { Http } from '../../remote/http/http.ts'

/** A person does not want to wait longer, whatever `host.timeout` says. */
const LONGEST_MS = 15_000

/** The endpoints that can be asked. Sending a picture (§4.2) can't, because it needs a credential. */
export type AskedEndpoint = Exclude<Endpoint, 'send'>

/** Single questions to a host, without a gate and without a second try. They change nothing on the host. */
export interface HostQuestions {
  /** Asks {base_url} itself, without the key. The request counts towards no limit of §8. */
  greet(signal: AbortSignal): Promise<HttpResult>
  /** Whether the key and the plan allow an endpoint. One request. */
  ask(endpoint: AskedEndpoint, signal: AbortSignal): Promise<Outcome<unknown>>
  /** One page of an album's listing. `album` null: the root. One request. */
  list(album: string | null, page: number, signal: AbortSignal): Promise<Outcome<ListPage>>
  close(): Promise<void>
}

type AskedQuestion<T = unknown> = Omit<Question<T>, 'endpoint' | 'fits' | 'mayGo'>

/** `ca`: PEM, or null for the authorities that Node knows. */
export function openHostQuestions(
  { host }: { host: Pick<Config['host'], 'base_url' | 'site_url' | 'upload_form' | 'timeout'> },
  apiKey: string,
  ca: string | null,
): HostQuestions {
  const timeoutMs = Math.min(host.timeout, LONGEST_MS)
  const http = new Http({ timeoutMs, ...(ca !== null && { ca }) })
  const base = addressOf(host.base_url)
  const questions = questionsFor(base, addressOf(host.site_url), host.upload_form)
  const put = async <T>(endpoint: AskedEndpoint, question: AskedQuestion<T>, signal: AbortSignal) => {
    const request = requestOf(question, apiKey)
    const result = await http.exchange({ ...request, limitMs: LONGEST_MS }, signal)
    const { schema } = question
    return readAnswer({ endpoint, schema, where: request.address.where, secrets: [apiKey] }, result)
  }
  return {
    greet: signal =>
      http.exchange({ method: 'GET', address: base, headers: COMMON_HEADERS, limitMs: LONGEST_MS }, signal),
    ask: (endpoint, signal) => put(endpoint, questions[endpoint], signal),
    async list(album, page, signal) {
      const query = new URLSearchParams({ ...(album !== null && { album_id: album }), page: String(page) })
      const path = `${PATHS.list}?${query}`
      const asked = { method: 'GET', below: base, path, schema: answers.list } as const
      const answer = await put('list', asked, signal)
      return answer.ok ? { ok: true, value: answer.value.data } : answer
    },
    close: () => http.close(),
  }
}

/**
 * The listing is asked as it is. The other endpoints would change something, so they are asked for what no host can do: a
 * picture of no bytes (§4.1.2), an album in a parent that does not exist (§4.5.5), and the deletion of an image that does
 * not exist (§4.6). The host checks key and plan before it refuses such a request.
 */
function questionsFor(
  base: Address,
  site: Address,
  form: Config['host']['upload_form'],
): Record<AskedEndpoint, AskedQuestion> {
  const nothing = randomUUID()
  const picture = { file_name: 'albumd-doctor.png', file_size: 0, mime_type: 'image/png' }
  return {
    list: { method: 'GET', below: base, path: PATHS.list, schema: answers.list },
    upload:
      form === 'presign'
        ? { method: 'POST', below: site, path: PRESIGN_PATH, json: picture, schema: answers.presign }
        : {
            method: 'POST',
            below: base,
            path: PATHS.upload,
            json: { ...picture, width: 1, height: 1 },
            schema: answers.upload,
          },
    create_album: {
      method: 'POST',
      below: base,
      path: PATHS.create_album,
      json: { name: '', parent_album: nothing },
      schema: answers.create_album,
    },
    delete: {
      method: 'DELETE',
      below: base,
      path: `${PATHS.delete}?${new URLSearchParams({ img: nothing })}`,
      schema: answers.delete_image,
    },
  }
}

/** Never throws: the config's schema has checked the address. */
function addressOf(url: string): Address {
  const address = parseAddress(new URL(url).href)
  if (!address) throw new TypeError('an address of the config cannot be used')
  return address
}
