import { createHash } from 'node:crypto'
import { DECISIONS } from '../../protocol/decisions.ts'
import type { Db } from './database.ts'

/** An upload credential (§4.1) as it is stored, by the hash of its token. */
export interface CredentialRow {
  token_hash: Buffer
  account: number
  image_id: string
  /** `seq` of the album that the image goes to. */
  album: number
  name: string
  /** The declared size in bytes. */
  size: number
  /** The MIME type with which the declared format is delivered. */
  mime: string
  /** Declared pixels; null when none were declared. */
  width: number | null
  height: number | null
  /** 1: the upload node compares dimensions (§4.2). */
  compares: 0 | 1
  /** The day whose quota the credential counts for. */
  day: number
  expires_at: number
  state: 'open' | 'used' | 'lapsed'
}

export type NewCredential = Omit<CredentialRow, 'token_hash' | 'day' | 'state'>

export type Credentials = ReturnType<typeof openCredentials>

/** The number of the quota's day (§8) at a moment. */
export function quotaDay(now: number): number {
  return Math.floor(now / DECISIONS.quotaDayMs)
}

/** Credentials, and the daily quota (§8) that counts them. Call writes inside a transaction. */
export function openCredentials(db: Db) {
  const insert = db.prepare<[Omit<CredentialRow, 'state'>]>(
    `INSERT INTO credentials
       (token_hash, account, image_id, album, name, size, mime, width, height, compares, day, expires_at)
     VALUES
       (@token_hash, @account, @image_id, @album, @name, @size, @mime, @width, @height, @compares, @day, @expires_at)`,
  )
  const byHash = db.prepare<[Buffer], CredentialRow>('SELECT * FROM credentials WHERE token_hash = ?')
  const spend = db.prepare<[Buffer, number]>(
    `UPDATE credentials SET state = 'used' WHERE token_hash = ? AND state = 'open' AND expires_at > +?`,
  )
  const lapse = db.prepare<[number], Pick<CredentialRow, 'account' | 'day'>>(
    `UPDATE credentials SET state = 'lapsed' WHERE state = 'open' AND expires_at <= +? RETURNING account, day`,
  )
  const forget = db.prepare<[number]>('DELETE FROM credentials WHERE expires_at <= +?')
  const promised = db
    .prepare<[number], number>(
      `SELECT coalesce(sum(size), 0) FROM credentials WHERE state = 'open' AND account = ?`,
    )
    .pluck()
  const used = db
    .prepare<[number, number], number>('SELECT used FROM quota WHERE account = ? AND day = ?')
    .pluck()
  const addUsed = db.prepare<[number, number, number]>(
    `INSERT INTO quota (account, day, used) VALUES (?, ?, ?)
     ON CONFLICT (account, day) DO UPDATE SET used = used + excluded.used`,
  )

  return {
    /** Stores a credential that is issued at `now`, and counts it for the day's quota. */
    issue(token: string, credential: NewCredential, now: number): void {
      const day = quotaDay(now)
      insert.run({ ...credential, token_hash: hashed(token), day })
      addUsed.run(credential.account, day, 1)
    },
    byToken: (token: string) => byHash.get(hashed(token)),
    /** Uses a credential up. Answers false when it is used up or expired at `now`. */
    spend: (credential: CredentialRow, now: number) => spend.run(credential.token_hash, now).changes === 1,
    /** Ends credentials that have expired at `now`. Unused ones no longer count for their day's quota. Old rows are removed. */
    lapse(now: number): void {
      for (const { account, day } of lapse.all(now)) addUsed.run(account, day, -1)
      forget.run(now - DECISIONS.credentialRememberedMs)
    },
    /** The sum of bytes that open credentials declare. */
    promisedBytes: (account: number) => promised.get(account)!,
    /** How many images count for the quota of the day at `now`. */
    usedOn: (account: number, now: number) => used.get(account, quotaDay(now)) ?? 0,
  }
}

function hashed(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
