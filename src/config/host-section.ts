import type { Endpoint } from '../protocol/endpoints.ts'
import { PLANS, REQUESTS_PER_SECOND } from '../protocol/limits.ts'
import * as value from './values.ts'

const rate = (endpoint: Endpoint, of: string) =>
  value.countOrUnlimited(1000).prefault(REQUESTS_PER_SECOND[endpoint]).meta({ description: of })

const requestsPerSecond = value.section({
  upload: rate('upload', 'Upload credentials.'),
  send: rate('send', 'Pictures sent.'),
  list: rate('list', 'Pages of listings.'),
  delete: rate('delete', 'Deletions.'),
  create_album: rate('create_album', 'Albums made.'),
} satisfies Record<Endpoint, unknown>)

export const hostSection = value.section({
  base_url: value.baseUrl.meta({
    description:
      "Where the image host's interface is. It ends in /api/v1. HTTPS; plain HTTP within this machine alone.",
    example: 'https://images.example.com/api/v1',
    secret: true,
  }),
  api_key_file: value
    .path('the path of a file that holds the API key')
    .optional()
    .meta({
      description:
        "The file that holds the account's API key, readable by albumd alone. Left out, the key is taken from " +
        '$ALBUMD_API_KEY, or else from the systemd credential "api-key", or else from the file api-key beside the ' +
        'config (NAME.yaml.api-key for a config NAME.yaml).',
      example: '/etc/albumd/api-key',
      secret: true,
    }),
  plan: value.oneOf(PLANS).prefault('professional').meta({
    description: "The account's plan: free, professional or flagship. The daily quota depends on it.",
  }),
  daily_quota: value.wholeNumber(1, 1_000_000_000).optional().meta({
    description: 'Images a day, when the account may upload another number than its plan says.',
    example: 5000,
  }),
  quota_reset: value.quotaReset.optional().meta({
    description:
      'When a new day begins for the quota. Left out, albumd asks once the quota is used up: at the time that the host names, or else every probe_every.',
    example: '00:00 Asia/Shanghai',
  }),
  requests_per_second: requestsPerSecond.prefault({}).meta({
    description:
      'How many requests are sent in any second at most, for each endpoint. Only for a host on this machine may the ' +
      'numbers be higher than these, or unlimited.',
  }),
  credential_lifetime: value.duration('1s', '10m').prefault('10m').meta({
    description: 'How long an upload credential is valid. Set a shorter time only when your host says so.',
  }),
  upload_form: value
    .oneOf(['credential', 'presign'])
    .prefault('credential')
    .meta({
      description:
        'How pictures are sent: credential, or presign for a host that offers nothing else. The form presign has no ' +
        'albums: the mirror\'s album must be "", and pictures in folders below the mirror fail.',
    }),
  site_url: value.siteUrl.optional().meta({
    description: "The host's site, for presign. Left out, it is the origin of base_url.",
    example: 'https://images.example.com',
    secret: true,
  }),
  ca_file: value.path('the path of a PEM file').optional().meta({
    description:
      'The certificate authority (PEM) of a host that has an authority of its own. A changed file counts at once.',
    example: '/etc/albumd/host-ca.pem',
  }),
  timeout: value.duration('100ms', '1h').prefault('60s').meta({
    description: 'How long a request may go without progress.',
  }),
})

export const accountSection = value.section({
  shared: value.storeUrl.optional().meta({
    description:
      'The Redis or Valkey (7 or later) through which the machines of one account share its rates, its quota and its ' +
      'albums: redis://, or rediss:// with TLS. All of them name the same one, host and key. Left ' +
      'out, this machine uses the account as if it were alone.',
    example: 'redis://192.168.1.2:6379',
    secret: true,
  }),
  shared_password_file: value
    .path('the path of a file that holds the password')
    .optional()
    .meta({
      description:
        'The file that holds the password of shared, readable by albumd alone. Left out, the password is taken from the ' +
        'systemd credential "shared-password".',
      example: '/etc/albumd/shared-password',
      secret: true,
    }),
  shared_ca_file: value.path('the path of a PEM file').optional().meta({
    description: 'The certificate authority (PEM) of a rediss:// address that has an authority of its own.',
    example: '/etc/albumd/shared-ca.pem',
  }),
  machine: value.machineName.optional().meta({
    description:
      'The name of this machine. No other machine of the account may have it. Left out, it is the host name.',
    example: 'studio-1',
  }),
  when_away: value.share.prefault('1/8').meta({
    description:
      'The part of each rate that this machine uses while shared cannot be reached. The parts of all machines together ' +
      'should not be more than the whole.',
  }),
})
