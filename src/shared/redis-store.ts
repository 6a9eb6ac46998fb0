import { isIP } from 'node:net'
import { Redis } from 'ioredis'
import { because, type Reason } from '../words/reasons.ts'
import { isOfTls } from '../words/system-errors.ts'
import type { Answer, Away, Script, Store, Value } from './store.ts'

export interface RedisOptions {
  /** redis:// or rediss://, perhaps with a user and the number of a database. */
  url: string
  password: string | null
  /** PEM of the authorities to trust instead of those that Node knows. */
  ca: string | null
  prefix: string
  /** How the store's list of clients names this connection. */
  name: string
  now(): number
  /** A channel on which nothing is said. While this process lives, the store counts a connection that listens to it. */
  presence?: string
}

/** How long an answer may take before the store counts as away: a request must leave within the second of its place. */
const ANSWER_MS = 500
const CONNECT_MS = 2000
/** How often a store that is away is tried. So all machines are back within this time after the store works again. */
export const RETRY_MS = 1000
/** How long the connection that shows this process's presence is silent before both ends check whether it is open. */
const PRESENT_MS = 10_000

/** Opens the connection to a Redis or Valkey, and keeps trying. Sends nothing but scripts. */
export function openRedis(options: RedisOptions): Store {
  const { url, password, ca, prefix, name, now, presence } = options
  const { hostname, port, username, pathname, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const where = `${hostname}:${port || 6379}`
  const isTls = protocol === 'rediss:'
  const redis = new Redis({
    host,
    port: Number(port || 6379),
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password }),
    db: Number(pathname.slice(1) || 0),
    // TLS takes only names as the server's name (SNI). Node warns of an IP address.
    ...(isTls && { tls: { ...(isIP(host) === 0 && { servername: host }), ...(ca !== null && { ca }) } }),
    connectionName: name,
    // A command that waited or was sent twice would concern a time that is over.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: null,
    // The check sends INFO, which some stores refuse. The first script shows as well whether the store works.
    enableReadyCheck: false,
    disableClientInfo: true,
    lazyConnect: true,
    commandTimeout: ANSWER_MS,
    connectTimeout: CONNECT_MS,
    // Closing does not wait for answers, because a store that hangs would not even close its end.
    disconnectTimeout: 0,
    retryStrategy: times => Math.min(RETRY_MS, 50 * 2 ** Math.min(times, 5)),
  })

  let away: Away | null = { reason: because('store_not_tried', { where }), since: now() }
  /** Sets why the store is away. `since` stays the same while the reasons change. */
  function set(reason: Reason | null): Away | null {
    away = reason && { reason, since: away?.since ?? now() }
    return away
  }

  // Errors of the connection. The client connects again by itself.
  redis.on('error', error => {
    // A store without TLS does not answer: it waits for the end of what it takes for a command.
    const isSilent = isTls && (error as NodeJS.ErrnoException).code === 'ETIMEDOUT'
    set(isSilent ? because('store_no_tls', { where, ms: CONNECT_MS }) : whyAway(error, where))
  })
  redis.on('close', () => away ?? set(because('store_lost', { where })))
  redis.connect().catch(() => {})
  // The presence needs a connection of its own, because one that listens to a channel can do nothing else.
  const present = presence ? redis.duplicate({ keepAlive: PRESENT_MS, autoResubscribe: false }) : null
  present?.on('error', () => {})
  present?.on('ready', () => present.subscribe(prefix + presence).catch(() => {}))
  present?.connect().catch(() => {})

  async function call(script: Script, keys: string[], args: readonly (string | number)[]): Promise<Value> {
    const { lua, digest, unknown } = script
    const rest = [keys.length, ...keys, ...args]
    try {
      return (await redis.call('EVALSHA', digest, ...rest)) as Value
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error
      return (await redis.call('EVAL', lua, ...rest, ...(unknown === null ? [] : [unknown]))) as Value
    }
  }

  return {
    async run(script, names, args): Promise<Answer> {
      if (redis.status !== 'ready') return { ok: false, away: away ?? set(because('store_lost', { where }))! }
      try {
        const keys = names.map(each => prefix + each)
        const value = await call(script, keys, args)
        set(null)
        return { ok: true, value }
      } catch (error) {
        return { ok: false, away: set(whyAway(error as Error, where))! }
      }
    },
    away: () => away,
    onReady(ready) {
      redis.on('ready', ready)
    },
    async close() {
      redis.disconnect()
      present?.disconnect()
    },
  }
}

/** Why the store can't be used. The words are albumd's own, because an error of the client may hold the password. */
function whyAway(error: Error, where: string): Reason {
  const { message } = error
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (message === 'Command timed out') return because('store_slow', { where, ms: ANSWER_MS })
  const [said = ''] = /^[A-Z]{2,20}(?=\s)/.exec(message) ?? []
  if (said === 'OOM') return because('store_full', { where })
  if (said === 'READONLY' || said === 'MISCONF' || said === 'NOREPLICAS')
    return because('store_read_only', { where, said })
  if (said === 'WRONGPASS' || said === 'NOAUTH' || said === 'NOPERM')
    return because('store_refuses', { where, said })
  // The store's rules (ACL) do not allow the script one of its commands.
  if (message.includes('ACL failure')) return because('store_refuses', { where, said: 'NOPERM' })
  if (message.includes('AUTH <password>')) return because('store_refuses', { where, said: 'WRONGPASS' })
  if (said) return because('store_answers', { where, said })
  if (isOfTls(code)) return because('store_tls', { where, code })
  return because('store_lost', { where })
}
