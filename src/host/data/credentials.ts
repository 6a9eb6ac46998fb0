import { hash } from 'node:crypto'
import type { Millis } from '../../protocol/clock.ts'
import { beginningAfter, daysOf } from '../../protocol/days.ts'
import type { HostSettings } from '../ports.ts'
import type { Db } from './database.ts'

/** An upload credential (§4.1) as it is stored, by the hash of its token. */
export interface CredentialRow {
  token_hash: Buffer
  account: number
  image_id: string
  /** `seq` of the album that the image goes to. */
  album: number
  name: string
  size: number
  /** The MIME type with which the declared format is delivered. */
  mime: string
  /** Declared pixels; null when none were declared. */
  width: number | null
  height: number | null
  /** 1: the upload node compares dimensions (§4.2). */
  compares: 0 | 1
  /** When the day began whose quota the credential uses up. */
  day: Millis
  expires_at: number
  state: 'open' | 'used' | 'lapsed'
}

export type NewCredential = Omit<CredentialRow, 'token_hash' | 'day' | 'state'>

/** §4.2: how long an expired credential is recognized as one that was issued. */
const REMEMBERED_MS = 24 * 60 * 60 * 1000

export type Credentials = ReturnType<typeof openCredentials>

/** Credentials, and the daily quota (§8) that they use up. Functions that write must be called in a transaction. */
export function openCredentials(db: Db, settings: HostSettings) {
  const dayOf = daysOf(settings.dayBegins)
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
  const lapse = db.prepare<[number]>(
    `UPDATE credentials SET state = 'lapsed' WHERE state = 'open' AND expires_at <= +?`,
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
    issue(token: string, credential: NewCredential, now: number): void {
      const day = dayOf(now)
      insert.run({ ...credential, token_hash: hash('sha256', token, 'buffer'), day })
      addUsed.run(credential.account, day, 1)
    },
    byToken: (token: string) => byHash.get(hash('sha256', token, 'buffer')),
    /** Marks a credential as used. Returns false when it was used before, or has expired at `now`. */
    spend: (credential: CredentialRow, now: number) => spend.run(credential.token_hash, now).changes === 1,
    /** Ends unused credentials that have expired by `now`, and removes old rows. The quota of expired ones stays used. */
    lapse(now: number): void {
      lapse.run(now)
      forget.run(now - REMEMBERED_MS)
    },
    promisedBytes: (account: number) => promised.get(account)!,
    usedOn: (account: number, now: number) => used.get(account, dayOf(now)) ?? 0,
    nextDay: (now: number) => beginningAfter(dayOf, now),
  }
}
