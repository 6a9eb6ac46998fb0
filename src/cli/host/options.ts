import type { InferredOptionTypes } from 'yargs'
import { AMOUNTS, DECISIONS } from '../../protocol/decisions.ts'
import { ENDPOINTS } from '../../protocol/endpoints.ts'
import { DAILY_QUOTA, PLANS, type Plan, REQUESTS_PER_SECOND } from '../../protocol/limits.ts'

function ofPlans(words: (plan: Plan) => string): string {
  return PLANS.map(plan => `${plan} ${words(plan)}`).join(', ')
}

const [MB, GB] = [2 ** 20, 2 ** 30]

/** The options of `albumd host`. Numbers are texts here, because yargs would take 1 given twice for 2. */
export const OPTIONS = {
  data: {
    type: 'string',
    requiresArg: true,
    describe: 'The folder that holds everything; needed to serve',
  },
  'api-key': {
    type: 'string',
    array: true,
    requiresArg: true,
    describe: 'The key to accept; several are several accounts; needed to serve',
  },
  listen: {
    type: 'string',
    default: '127.0.0.1:8443',
    requiresArg: true,
    describe: 'Address and port',
  },
  'public-url': {
    type: 'string',
    requiresArg: true,
    defaultDescription: 'what it listens on',
    describe:
      'Where other machines reach it, such as https://images.lan:8443; its certificate is good for that',
  },
  tls: { type: 'boolean', default: true, describe: 'Off: --no-tls, on loopback addresses alone' },
  insecure: {
    type: 'boolean',
    default: false,
    describe: 'With --no-tls: serve other machines too, who send their keys readable to all between',
  },
  plan: { choices: PLANS, default: 'professional' as Plan, describe: 'The plan of the accounts' },
  'plans-from': {
    choices: ['professional', 'flagship'] as const,
    default: 'professional' as const,
    describe: 'The plan from which list, delete and create_album may be used',
  },
  'daily-quota': {
    type: 'string',
    requiresArg: true,
    defaultDescription: ofPlans(plan => String(DAILY_QUOTA[plan])),
    describe: 'Images a day',
  },
  'day-begins': {
    type: 'string',
    default: '00:00 UTC',
    requiresArg: true,
    describe: "When the quota's day begins, such as 00:00 Asia/Shanghai",
  },
  'max-file-size': {
    type: 'string',
    requiresArg: true,
    defaultDescription: ofPlans(plan => `${DECISIONS.fileSizeMax[plan] / MB}mb`),
    describe: 'Of one file',
  },
  'storage-limit': {
    type: 'string',
    requiresArg: true,
    defaultDescription: ofPlans(plan => `${DECISIONS.storageMax[plan] / GB}gb`),
    describe: 'Of an account',
  },
  rates: {
    type: 'string',
    requiresArg: true,
    defaultDescription: ENDPOINTS.map(endpoint => `${endpoint}=${REQUESTS_PER_SECOND[endpoint]}`).join(','),
    describe: 'Requests a second, or unlimited; those that are left out stay',
  },
  depth: {
    type: 'string',
    requiresArg: true,
    defaultDescription: String(AMOUNTS.depthMax.value),
    describe: 'How deep albums may be nested',
  },
  'default-album': {
    type: 'string',
    requiresArg: true,
    defaultDescription: 'the root',
    describe: 'Where images land that name no album, such as Photos/Inbox; made when it is missing',
  },
  'credential-ttl': {
    type: 'string',
    default: '10m',
    requiresArg: true,
    describe: 'How long an upload may take',
  },
  readings: {
    type: 'string',
    defaultDescription: "the host's own",
    describe:
      'Alone: list what the host chose where the specification leaves it open. As name=value,…: choose otherwise',
  },
  json: {
    type: 'boolean',
    default: false,
    describe: 'One line when it listens; or the readings as one object',
  },
} as const

export type HostArgs = InferredOptionTypes<typeof OPTIONS>
