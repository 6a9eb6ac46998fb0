import { join } from 'node:path'
import type { HostChoices } from '../../src/host/ports.ts'
import { type ChildServer, startChild } from './child.ts'

/** One request that the embedded host has answered. Times: see `nowMs`. */
export interface Answered {
  method: string
  /** Without the query. */
  path: string
  status: number
  /** Of the request's body, as it was announced. */
  bytes: number
  beganMs: number
  endedMs: number
}

export type ObservedHost = ChildServer<Answered[]>

export interface ObservedHostOptions {
  data: string
  /** 0 is any that is free. */
  port: number
  choices?: Partial<HostChoices>
}

export const KEY = 'bench-key-0123456789'

/** The embedded host, which tells when what was asked of it. */
export function startObservedHost(options: ObservedHostOptions): Promise<ObservedHost> {
  return startChild<Answered[]>(join(import.meta.dirname, 'observed-host-child.ts'), options)
}

export function isCredential({ method, path }: Answered): boolean {
  return method === 'POST' && path === '/api/v1/upload'
}

export function isSending({ method, path }: Answered): boolean {
  return method === 'POST' && !path.startsWith('/api/')
}
