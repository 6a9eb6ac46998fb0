import { join } from 'node:path'
import { type ChildServer, startChild } from './child.ts'

/** What the sink has taken in. */
export interface Taken {
  pictures: number
  bytes: number
  /** Requests for credentials that were granted, and those that the day's quota refused. */
  granted: number
  refused: number
}

export interface SinkOptions {
  /** Left out: there is none. */
  dailyQuota?: number
}

export interface Sink extends ChildServer<Taken> {
  /** Takes what is PUT below it; an S3 bucket's endpoint. */
  s3: string
}

/** A server that keeps nothing and costs all senders the same: the host's interface, PUT for curl, enough S3 for rclone. */
export async function startSink(options: SinkOptions = {}): Promise<Sink> {
  const child = await startChild<Taken>(join(import.meta.dirname, 'sink-child.ts'), options)
  return { ...child, s3: new URL('/', child.listening.baseUrl).href.slice(0, -1) }
}
