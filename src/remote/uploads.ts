import type { UploadRequest } from '../protocol/records.ts'
import type { Clock } from './clock.ts'
import { askCredential, askPresigned } from './credentials.ts'
import { cancelled, tooSlow } from './failures.ts'
import type { Credential, Outcome, PictureBody, Sent } from './host.ts'
import type { Connection } from './http/connection.ts'
import { KnownCredentials } from './known-credentials.ts'
import type { Bandwidth } from './line/bandwidth.ts'
import type { Line, Passage } from './line/line.ts'
import { sendPicture } from './send-picture.ts'

export interface UploadsParts {
  connection: Connection
  /** §4.1 or §4.3. */
  form: 'credential' | 'presign'
  line: Line
  bandwidth: Bandwidth
  clock: Clock
  /** Of a credential (§8). */
  lifetimeMs: number
}

/** §4.1 to §4.3: credentials, and pictures on the line that they share. */
export class Uploads {
  readonly #parts: UploadsParts
  /** Of credentials that were granted and not used yet, by their address. */
  readonly #granted = new Map<string, Passage>()
  readonly #known = new KnownCredentials()

  constructor(parts: UploadsParts) {
    this.#parts = parts
  }

  /** The line comes first: a credential's life begins when it is granted. */
  async request(request: UploadRequest, signal: AbortSignal): Promise<Outcome<Credential>> {
    const { connection, form, line, lifetimeMs } = this.#parts
    const entered = await line.enter(request.file_size, signal)
    if (!entered) return { ok: false, failure: cancelled('upload', 'nothing') }
    if ('slow' in entered) return { ok: false, failure: tooSlow('upload', entered.slow, lifetimeMs) }
    const { passage } = entered
    try {
      const askFor = form === 'presign' ? askPresigned : askCredential
      const answer = await askFor(connection, this.#known, request, signal)
      if (answer.ok) this.#keep(answer.value, passage)
      else passage.leave()
      return answer
    } catch (error) {
      passage.leave()
      throw error
    }
  }

  async send(credential: Credential, picture: PictureBody, signal: AbortSignal): Promise<Outcome<Sent>> {
    const { secrets } = this.#parts.connection
    const passage = this.#passageOf(credential, picture)
    secrets.add(credential.uploadUrl)
    try {
      return await sendPicture({ ...this.#parts, passage }, credential, picture, signal)
    } finally {
      passage.leave()
      secrets.forget(credential.uploadUrl)
    }
  }

  #passageOf({ uploadUrl }: Credential, { size }: PictureBody): Passage {
    const granted = this.#granted.get(uploadUrl)
    this.#granted.delete(uploadUrl)
    if (granted) return granted
    const passage = this.#parts.line.admit(size)
    passage.granted()
    return passage
  }

  #keep({ uploadUrl }: Credential, passage: Passage): void {
    const { secrets } = this.#parts.connection
    for (const [url, unused] of this.#granted) {
      if (unused.leftMs() > 0) continue
      this.#granted.delete(url)
      secrets.forget(url)
    }
    this.#granted.get(uploadUrl)?.leave()
    secrets.add(uploadUrl)
    this.#granted.set(uploadUrl, passage)
    passage.granted()
  }
}
