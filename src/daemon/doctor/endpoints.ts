import { KEY_REMEDY } from '../../config/api-key.ts'
import { isErrorCode } from '../../protocol/errors.ts'
import type { HostFailure, Outcome } from '../../remote/host.ts'
import { OTHER_ACCOUNT, OTHER_ACCOUNT_REMEDY, OTHER_ACCOUNT_SAID } from '../state/own-account.ts'
import { type Finding, fail, pass, warn } from './finding.ts'
import type { AskedEndpoint } from './host-questions.ts'

/** What each endpoint is for, in words. */
const FOR: Record<AskedEndpoint, string> = {
  list: 'to list albums and images',
  upload: 'to upload',
  create_album: 'to make albums',
  delete: 'to delete',
}

/** What a plan without it means. */
const WITHOUT: Record<AskedEndpoint, string> = {
  list: 'audit, adopt and finding out what became of a lost answer wait for a plan that has it',
  upload: 'nothing can be uploaded; the service wants a paid plan for it',
  create_album: 'all pictures go to the deepest album that is there, at worst the root',
  delete: 'deleted and changed pictures keep their old images on the host until the plan has it',
}

/** What the answer to a question of host-questions.ts tells of the endpoint. */
export function judgeAnswer(endpoint: AskedEndpoint, outcome: Outcome<unknown>): Finding {
  if (outcome.ok) return endpoint === 'list' ? allowed(endpoint) : odd(endpoint)
  const { failure } = outcome
  return { ...judgeFailure(endpoint, failure), code: failure.code }
}

/** What the running daemon was last told. `code` null: nothing is in its way. */
export function judgeBlock(
  endpoint: AskedEndpoint,
  block: { code: string; message: string } | null,
): Finding {
  if (block === null)
    return pass('endpoint', `${endpoint} (${FOR[endpoint]}): albumd is at work, and was refused nothing`)
  const said =
    block.code === OTHER_ACCOUNT
      ? `${endpoint} (${FOR[endpoint]}): ${OTHER_ACCOUNT_SAID} (${block.code})`
      : `${endpoint} (${FOR[endpoint]}): the host told albumd ${block.code}: ${block.message}`
  return { ...withRemedyOf(block.code, endpoint, said), code: block.code }
}

function judgeFailure(endpoint: AskedEndpoint, failure: HostFailure): Finding {
  const { code, message, status } = failure
  // A refusal of §7 for the question itself: key, plan and quota were no hindrance.
  if (
    endpoint !== 'list' &&
    status !== undefined &&
    REFUSED_AS_MEANT.has(failure.remedy) &&
    isErrorCode(code)
  )
    return allowed(endpoint)
  return withRemedyOf(code, endpoint, `${endpoint} (${FOR[endpoint]}): ${message} (${code})`)
}

const REFUSED_AS_MEANT: ReadonlySet<HostFailure['remedy']> = new Set([
  'change_request',
  'change_picture',
  'skip_dimensions',
  'gone',
  'not_permitted',
])

function withRemedyOf(code: string, endpoint: AskedEndpoint, said: string): Finding {
  switch (code) {
    case 'PLAN_NOT_SUPPORTED':
      return endpoint === 'upload'
        ? fail('endpoint', said, WITHOUT.upload)
        : warn('endpoint', said, WITHOUT[endpoint])
    case 'INVALID_API_KEY':
    case 'MISSING_API_KEY':
      return fail('endpoint', said, KEY_REMEDY)
    case OTHER_ACCOUNT:
      return fail('endpoint', said, OTHER_ACCOUNT_REMEDY)
    case 'DAILY_LIMIT_REACHED':
      return warn('endpoint', said, 'wait: albumd goes on by itself when there is quota again')
    case 'STORAGE_LIMIT_REACHED':
      return fail(
        'endpoint',
        said,
        'make room on the host, or get a larger plan; albumd tries again by itself',
      )
    case 'RATE_LIMITED':
      return warn('endpoint', said, 'another program uses the account now; ask again later')
    case 'NO_AVAILABLE_IO_NODE':
      return warn('endpoint', said, 'wait: the host has no upload node now, and albumd tries again by itself')
    default:
      return fail('endpoint', said, 'see whether host.base_url is right, and what the host says of it')
  }
}

function allowed(endpoint: AskedEndpoint): Finding {
  return pass('endpoint', `${endpoint} (${FOR[endpoint]}): the plan allows it`)
}

function odd(endpoint: AskedEndpoint): Finding {
  return warn(
    'endpoint',
    `${endpoint}: the host says yes to what can not be done; it is not the service that albumd knows`,
    'look whether host.base_url is right, and on the host for an album without a name',
  )
}
