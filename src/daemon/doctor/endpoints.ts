import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { KEY_REMEDY } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import type { Endpoint } from '../../protocol/endpoints.ts'
import { isErrorCode } from '../../protocol/errors.ts'
import { OTHER_ACCOUNT } from '../../remote/failures.ts'
import type { HostFailure, ImageHost, Lister, Outcome } from '../../remote/host.ts'
import { askToDeleteNothing } from '../../sync/deletions/index.ts'
import { StateError } from '../../synced/state-error.ts'
import { because, factOf, inWords, ofWholeHost, remedyOf } from '../../words/reasons.ts'
import { BY_ITSELF } from '../notify/health.ts'
import type { Status } from '../report/status.ts'
import { stateFiles } from '../state/claim.ts'
import { isOtherKey, judgeAccount } from '../state/own-account.ts'
import { reading } from '../state/state.ts'
import { type Finding, fail, pass, warn } from './finding.ts'

/** The longest timeout of a request, even where `host.timeout` is longer, because a person waits for the doctor. */
export const LONGEST_MS = 15_000

/** Each question is asked once, because a person waits. Not for use beside a daemon, which shares the rate (§8). */
export const askingOnce = (timeout: number) => ({
  timeoutMs: Math.min(timeout, LONGEST_MS),
  concurrency: 1,
  patience: { attempts: 1, maxDelayMs: 0 },
})

export type AskedEndpoint = Exclude<Endpoint, 'send'>

interface Question {
  aim: string
  without: string
  ask(host: ImageHost, signal: AbortSignal): Promise<Outcome<unknown>>
}

/** Questions that show whether key and plan allow the endpoints, and change nothing. All but the listing ask for the
 * impossible: a picture of no bytes (§4.1.2), an album in a missing parent (§4.5.5), a missing image (§4.6). The host
 * checks key and plan first. */
const QUESTIONS: Record<AskedEndpoint, Question> = {
  list: {
    aim: 'to list albums and images',
    without: 'Audit, adopt and recovery of uploads in doubt wait for a plan that allows it',
    ask: (host, signal) => host.list(null, 1, signal),
  },
  upload: {
    aim: 'to upload',
    without: 'Nothing can be uploaded. Get a plan that allows it',
    ask: (host, signal) => host.requestUpload(EMPTY_PICTURE, signal),
  },
  create_album: {
    aim: 'to make albums',
    without: 'All pictures go into the deepest album that exists, or else into the root',
    // The album that is asked for has no name, and its parent does not exist, so no host creates it (§4.5).
    ask: (host, signal) => host.createAlbum({ name: '', parent_album: randomUUID() }, signal),
  },
  delete: {
    aim: 'to delete',
    without: 'Deleted and changed pictures keep their old images on the host until the plan allows it',
    ask: (host, signal) => askToDeleteNothing(host, randomUUID(), signal),
  },
}

const ASKED = Object.keys(QUESTIONS) as AskedEndpoint[]

const EMPTY_PICTURE = {
  file_name: 'albumd-doctor.png',
  file_size: 0,
  mime_type: 'image/png',
  width: 1,
  height: 1,
}

/** Whether the host takes the key, and what the plan allows. Sends one request to each endpoint. */
export async function* checkEndpoints(
  host: ImageHost,
  signal: AbortSignal,
  keyRemedy = KEY_REMEDY,
): AsyncGenerator<Finding> {
  for (const endpoint of ASKED) {
    const outcome = await QUESTIONS[endpoint].ask(host, signal)
    if (signal.aborted) return
    if (!outcome.ok && outcome.failure.remedy === 'key') {
      const { code, message } = outcome.failure
      yield refusedKey(code, inWords(message), keyRemedy)
      return
    }
    if (endpoint === ASKED[0] && (outcome.ok || outcome.failure.status !== undefined))
      yield pass('key', 'the host accepts it')
    yield outcome.ok ? judgeSuccess(endpoint) : judgeFailure(endpoint, outcome.failure, keyRemedy)
  }
}

export function* judgeDaemon(
  blocks: Status['blocks'],
  keyRemedy = KEY_REMEDY,
  isUsedUp = false,
): Generator<Finding> {
  const refused = blocks.find(block => ofWholeHost(block) === 'key_refused')
  if (refused) return yield refusedKey(refused.code, refused.message, keyRemedy)
  for (const endpoint of ASKED) {
    const block = blocks.find(block => block.endpoint === endpoint)
    if (block) yield judgeBlock(endpoint, block, keyRemedy)
    else if (isUsedUp && endpoint === 'upload')
      yield judgeCode(endpoint, 'DAILY_LIMIT_REACHED', inWords(because('quota_refused')), keyRemedy)
    else yield pass('endpoint', about(endpoint, 'albumd is running, and no refusal is recorded'))
  }
}

function refusedKey(code: string, message: string, keyRemedy: string): Finding {
  const other = because('other_account')
  if (code === OTHER_ACCOUNT) return { ...fail('key', factOf(other), remedyOf(other)), code }
  return { ...fail('key', `The host refuses the key: ${message} (${code})`, keyRemedy), code }
}

function judgeBlock(endpoint: AskedEndpoint, block: Status['blocks'][number], keyRemedy: string): Finding {
  const { code, message, needs_person } = block
  const judged = judgeCode(endpoint, code, `${message} (${code})`, keyRemedy)
  return needs_person ? judged : { ...judged, status: 'warn', remedy: BY_ITSELF }
}

function judgeSuccess(endpoint: AskedEndpoint): Finding {
  if (endpoint === 'list') return pass('endpoint', about(endpoint, ALLOWED))
  return warn(
    'endpoint',
    `${endpoint}: the host accepted a request that must fail, so it is not the service that albumd is made for`,
    'Check host.base_url, and look on the host for an album without a name',
  )
}

function judgeFailure(endpoint: AskedEndpoint, failure: HostFailure, keyRemedy: string): Finding {
  const { code, message, status, remedy } = failure
  // The host checks key, plan and quota before it refuses what is impossible about the request (§7).
  const isAsMeant =
    endpoint !== 'list' && status !== undefined && REFUSED_AS_MEANT.has(remedy) && isErrorCode(code)
  if (isAsMeant) return { ...pass('endpoint', about(endpoint, ALLOWED)), code }
  return judgeCode(endpoint, code, `${inWords(message)} (${code})`, keyRemedy)
}

const ALLOWED = 'the plan allows it'

const REFUSED_AS_MEANT: ReadonlySet<HostFailure['remedy']> = new Set([
  'change_request',
  'change_picture',
  'other_dimensions',
  'gone',
  'not_permitted',
])

function judgeCode(endpoint: AskedEndpoint, code: string, said: string, keyRemedy: string): Finding {
  const [judge, remedy] =
    code === 'PLAN_NOT_SUPPORTED'
      ? [endpoint === 'upload' ? fail : warn, QUESTIONS[endpoint].without]
      : (REMEDIES[code] ?? [fail, 'Check host.base_url, and ask whoever runs the host'])
  return { ...judge('endpoint', about(endpoint, said), remedy ?? keyRemedy), code }
}

function about(endpoint: AskedEndpoint, said: string): string {
  return `${endpoint} (${QUESTIONS[endpoint].aim}): ${said}`
}

/** What a finding says of each code, and what a person can do. Null: what helps with a key. */
const REMEDIES: Readonly<Record<string, [judge: typeof warn, remedy: string | null]>> = {
  INVALID_API_KEY: [fail, null],
  MISSING_API_KEY: [fail, null],
  DAILY_LIMIT_REACHED: [warn, BY_ITSELF],
  STORAGE_LIMIT_REACHED: [fail, 'Make room on the host, or get a larger plan'],
  RATE_LIMITED: [warn, 'Run the doctor again later, because another program uses the account now'],
  NO_AVAILABLE_IO_NODE: [warn, BY_ITSELF],
}

/** Whether a new key belongs to the account of the recorded images. Null for a known key. Records nothing. */
export async function checkAccount(
  config: Config,
  apiKey: string,
  host: Lister,
  signal: AbortSignal,
): Promise<Finding | null> {
  if (!existsSync(stateFiles(config.state_dir).database)) return null
  try {
    return await reading(config, async synced => {
      if (!isOtherKey(synced, apiKey)) return null
      const doubt = await judgeAccount(host, synced, apiKey, signal)
      if (signal.aborted) return null
      if (doubt === null) return pass('key', 'The key was changed, and its account shows the recorded images')
      const { code, message } = doubt
      if (code === OTHER_ACCOUNT) return refusedKey(code, inWords(message), KEY_REMEDY)
      const said = `The key was changed, and its account could not be checked: ${inWords(message)} (${code})`
      const remedy = 'Run the doctor again; albumd does nothing with the key before it is sure'
      return { ...warn('key', said, remedy), code }
    })
  } catch (error) {
    // An error of the state is no finding of this check, because `checkDatabase` reports it.
    if (error instanceof StateError) return null
    throw error
  }
}
