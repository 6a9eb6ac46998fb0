import { startHost } from '../../src/host/embedded-host.ts'
import { KEY, UNLIMITED } from './choices.ts'

/** A host as a process of its own, for tests that kill it. Its argument is the data folder; it prints its address. */
const { baseUrl } = await startHost({
  data: process.argv[2]!,
  listen: { host: '127.0.0.1', port: 0 },
  apiKeys: [KEY],
  plan: 'professional',
  tls: false,
  requestsPerSecond: UNLIMITED,
})
process.stdout.write(`${baseUrl}\n`)
