import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type HostOptions, type RunningHost, startHost } from '../../src/host/embedded-host.ts'
import type { Listing as HostListing } from '../../src/host/listing.ts'
import type { TestPicture } from '../pictures.ts'
import { tempFolder } from '../temp-folder.ts'
import { KEY, OTHER_KEY, UNLIMITED } from './choices.ts'

/** Time that passes when a test says so. */
export class TestClock {
  #ms: number

  constructor(start = '2026-11-21T12:00:00Z') {
    this.#ms = Date.parse(start)
  }

  wall(): number {
    return this.#ms
  }

  monotonic(): number {
    return this.#ms
  }

  advance(ms: number): void {
    this.#ms += ms
  }
}

export interface Answer {
  status: number
  headers: Headers
  // The tests say which fields they expect; what is not there is undefined and fails them.
  // biome-ignore lint/suspicious/noExplicitAny: the shape differs from answer to answer
  json: any
}

/** A host for one test: plain HTTP, without per-second limits. A fault of the host's own fails the test. */
export async function testHost(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const data = options.data ?? tempFolder()
  const faults: Error[] = []
  const running = await startHost({
    data,
    listen: { host: '127.0.0.1', port: 0 },
    apiKeys: [KEY, OTHER_KEY],
    plan: 'professional',
    tls: false,
    requestsPerSecond: UNLIMITED,
    onFault: fault => faults.push(fault),
    ...options,
  })
  onTestFinished(async () => {
    await running.close()
    expect(faults).toEqual([])
  })
  return new TestHost(running, data)
}

/** A host and a plain client for it. */
export class TestHost {
  readonly running: RunningHost
  readonly data: string

  constructor(running: RunningHost, data: string) {
    this.running = running
    this.data = data
  }

  async call(method: string, path: string, body?: unknown, key: string | null = KEY): Promise<Answer> {
    const headers: Record<string, string> = key === null ? {} : { 'X-API-Key': key }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const url = path.startsWith('/api/') ? this.running.siteUrl + path : this.running.baseUrl + path
    return answered(
      await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }),
    )
  }

  requestUpload(picture: TestPicture, more: Record<string, unknown> = {}, key = KEY): Promise<Answer> {
    return this.call('POST', '/upload', { ...declaration(picture), ...more }, key)
  }

  async uploadUrl(picture: TestPicture, more: Record<string, unknown> = {}, key = KEY): Promise<string> {
    const { json } = await this.requestUpload(picture, more, key)
    expect(json).toMatchObject({ success: true })
    return json.data.upload_url
  }

  /** Both steps; the answer is the second's. */
  async upload(picture: TestPicture, more: Record<string, unknown> = {}, key = KEY): Promise<Answer> {
    return send(await this.uploadUrl(picture, more, key), picture.bytes, picture.name)
  }

  /** The id of an image that is there now. */
  async image(picture: TestPicture, more: Record<string, unknown> = {}, key = KEY): Promise<string> {
    const { json } = await this.upload(picture, more, key)
    expect(json).toMatchObject({ success: true })
    return json.image_id
  }

  /** The id of an album that is there now. */
  async album(name: string, parent: string | null = null, key = KEY): Promise<string> {
    const { json } = await this.call('POST', '/create_album', { name, parent_album: parent }, key)
    expect(json).toMatchObject({ success: true })
    return json.data.album.id
  }

  async list(album: string | null = null, page?: number): Promise<Listing> {
    const query = new URLSearchParams()
    if (album !== null) query.set('album_id', album)
    if (page !== undefined) query.set('page', String(page))
    const { json } = await this.call('GET', `/list?${query}`)
    expect(json).toMatchObject({ success: true })
    return json.data
  }

  deliveryUrl(imageId: string): string {
    return `${this.running.cdnBaseUrl}/i/${imageId}`
  }
}

/** The files that a host has of pictures, whole (`kept`) or not (`incoming`). */
export function pictureFiles(data: string, folder = ''): string[] {
  const entries = readdirSync(join(data, 'pictures', folder), { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}

export type Listing = HostListing & { cdn_base_url: string }

/** The body of step 1 for a picture. */
export function declaration(picture: TestPicture): Record<string, unknown> {
  return {
    file_name: picture.name,
    file_size: picture.bytes.byteLength,
    mime_type: picture.mime,
    ...(picture.width > 0 && { width: picture.width, height: picture.height }),
  }
}

/** Step 2, as any client with a form does it. */
export async function send(uploadUrl: string, bytes: Uint8Array, name = 'picture.png'): Promise<Answer> {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(bytes)]), name)
  return answered(await fetch(uploadUrl, { method: 'POST', body: form }))
}

export async function answered(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, json: await response.json() }
}
