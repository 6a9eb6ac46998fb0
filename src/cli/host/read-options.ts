import type { ZodType } from 'zod'
import { mayBeKey } from '../../config/host-access.ts'
import { albumPath, parseDuration, parseSize, quotaReset } from '../../config/values.ts'
import { OWN_READINGS } from '../../host/decisions.ts'
import type { HostOptions } from '../../host/embedded-host.ts'
import { ENDPOINTS, type Endpoint, isLoopback } from '../../protocol/endpoints.ts'
import { Problem } from '../problem.ts'
import { sayAside } from '../terminal/output.ts'
import type { HostArgs } from './options.ts'

export function readOptions(args: HostArgs): HostOptions {
  const listen = readListen(args.listen)
  refuseInsecure(args, listen.host)
  const quota = args['daily-quota']
  const [fileSize, storage] = [args['max-file-size'], args['storage-limit']]
  return {
    ...readDataAndKeys(args),
    listen,
    tls: args.tls,
    plan: args.plan,
    plansFrom: args['plans-from'],
    onFault: fault => sayAside(fault.message),
    credentialTtlMs: readDuration('credential-ttl', args['credential-ttl']),
    dayBegins: checked('day-begins', args['day-begins'], quotaReset),
    defaultAlbum: readDefaultAlbum(args['default-album'] ?? ''),
    requestsPerSecond: args.rates === undefined ? {} : readRates(args.rates),
    ...(quota !== undefined && { dailyQuota: readCount('daily-quota', quota) }),
    ...(fileSize !== undefined && { maxFileSize: readSize('max-file-size', fileSize) }),
    ...(storage !== undefined && { storageLimit: readSize('storage-limit', storage) }),
  }
}

function wrong(option: string, fault: string): Problem {
  return new Problem(`--${option} ${fault}`)
}

function readDataAndKeys(args: HostArgs): { data: string; apiKeys: readonly string[] } {
  const { data, 'api-key': apiKeys } = args
  const missing = [data === undefined && '--data', apiKeys === undefined && '--api-key'].filter(Boolean)
  if (data === undefined || apiKeys === undefined)
    throw new Problem(`${missing.join(' and ')} missing. Both are needed to serve`)
  if (data === '') throw wrong('data', 'must be a folder')
  if (apiKeys.includes('')) throw wrong('api-key', 'must not be empty')
  if (apiKeys.every(mayBeKey)) return { data, apiKeys }
  const why = 'must be printable ASCII without spaces, at most 4096 characters'
  throw new Problem(`--api-key ${why}`)
}

function readListen(written: string): HostOptions['listen'] {
  const listen = /^(?:\[(?<six>[0-9a-fA-F:]+)\]|(?<host>[^:]+)):(?<port>\d{1,5})$/.exec(written)?.groups
  if (!listen || Number(listen.port) > 65535)
    throw wrong('listen', `"${written}" must be an address and a port, such as 127.0.0.1:8443`)
  return { host: (listen.six ?? listen.host)!, port: Number(listen.port) }
}

/** Refuses plain HTTP to other machines (§5.4: only HTTPS). */
function refuseInsecure({ tls, listen }: HostArgs, host: string): void {
  const own = URL.parse(host.includes(':') ? `http://[${host}]` : `http://${host}`)
  if (tls || (own && isLoopback(own))) return
  throw wrong('no-tls', `and --listen ${listen} would let all on the way to other machines read the keys`)
}

function readCount(option: string, written: string): number {
  if (!/^\d{1,15}$/.test(written)) throw wrong(option, 'must be a whole number')
  return Number(written)
}

function readDuration(option: string, written: string): number {
  const value = parseDuration(written)
  if (!value) throw wrong(option, `"${written}" must be a duration such as 10m`)
  return value
}

function readSize(option: string, written: string): number {
  const value = /^\d+$/.test(written) ? Number(written) : parseSize(written)
  if (!value) throw wrong(option, `"${written}" must be a size such as 20mb`)
  return value
}

function checked<T>(option: string, written: string, kind: ZodType<T>): T {
  const read = kind.safeParse(written)
  if (read.success) return read.data
  throw wrong(option, `"${written}" ${read.error.issues[0]!.message}`)
}

/** The album of images that name no album. Null: the root. */
function readDefaultAlbum(written: string): string | null {
  const { depthMax } = OWN_READINGS
  const album = checked('default-album', written, albumPath)
  if (album.split('/').length > depthMax)
    throw wrong('default-album', `"${album}" is deeper than albums may be nested (${depthMax})`)
  return album || null
}

function readRates(written: string): Partial<Record<Endpoint, number>> {
  const rates: Partial<Record<Endpoint, number>> = {}
  for (const part of written.split(',')) {
    const [, name, rate] = /^([a-z_]+)=([1-9]\d{0,8}|unlimited)$/.exec(part.trim()) ?? []
    const endpoint = ENDPOINTS.find(known => known === name)
    if (!endpoint || rates[endpoint] !== undefined)
      throw wrong('rates', `"${written}" must be like upload=20,list=unlimited, of ${ENDPOINTS.join(', ')}`)
    rates[endpoint] = rate === 'unlimited' ? Number.POSITIVE_INFINITY : Number(rate)
  }
  return rates
}
