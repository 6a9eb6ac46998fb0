import type { InferredOptionTypes } from 'yargs'
import { FILE_SIZE_MAX, STORAGE_MAX } from '../../host/decisions.ts'
import { ENDPOINTS } from '../../protocol/endpoints.ts'
import { DAILY_QUOTA, PLANS, type Plan, REQUESTS_PER_SECOND } from '../../protocol/limits.ts'
import { flag, valued } from '../options.ts'

const [MB, GB] = [2 ** 20, 2 ** 30]

function ofPlans(words: (plan: Plan) => string): string {
  return PLANS.map(plan => `${plan} ${words(plan)}`).join(', ')
}

export const OPTIONS = {
  data: valued('The folder that holds everything; required'),
  'api-key': {
    ...valued('A key to accept, one for each account; required'),
    array: true,
  },
  listen: { ...valued('Address and port'), default: '127.0.0.1:8443' },
  tls: {
    type: 'boolean',
    default: true,
    describe: 'Speak TLS, unless --no-tls, for loopback addresses alone',
  },
  plan: { choices: PLANS, default: 'professional' as Plan, describe: 'The plan of the accounts' },
  'plans-from': {
    choices: ['professional', 'flagship'] as const,
    default: 'professional' as const,
    describe: 'The plan from which list, delete and create_album may be used',
  },
  'daily-quota': valued(
    'Images a day',
    ofPlans(plan => String(DAILY_QUOTA[plan])),
  ),
  'day-begins': {
    ...valued("When the quota's day begins, such as 00:00 Asia/Shanghai"),
    default: '00:00 UTC',
  },
  'max-file-size': valued(
    'The largest file',
    ofPlans(plan => `${FILE_SIZE_MAX[plan] / MB}mb`),
  ),
  'storage-limit': valued(
    'The storage of an account',
    ofPlans(plan => `${STORAGE_MAX[plan] / GB}gb`),
  ),
  rates: valued(
    'Requests a second for these endpoints, or unlimited',
    ENDPOINTS.map(endpoint => `${endpoint}=${REQUESTS_PER_SECOND[endpoint]}`).join(','),
  ),
  'default-album': valued(
    'The album of images that are uploaded without one, such as Photos/Inbox; made when it is missing',
    'the root',
  ),
  'credential-ttl': { ...valued('How long an upload may take'), default: '10m' },
  json: flag('One line when it listens'),
} as const

export type HostArgs = InferredOptionTypes<typeof OPTIONS>
