import { createHash, timingSafeEqual } from 'node:crypto'
import type { Random } from '../ports.ts'
import type { Db } from './database.ts'

export interface Account {
  id: number
  /** `seq` of the album that is its root. */
  root: number
}

export type Accounts = ReturnType<typeof openAccounts>

/** One account to a key. A key that was served before finds its account again; the data holds only the key's hash. */
export function openAccounts(db: Db, apiKeys: readonly string[], random: Random, now: number) {
  const keys = db
    .transaction(() => apiKeys.map(key => ({ hash: hashed(key), account: ensured(key) })))
    .immediate()

  function ensured(key: string): Account {
    const hash = hashed(key)
    db.prepare('INSERT INTO accounts (key_hash) VALUES (?) ON CONFLICT DO NOTHING').run(hash)
    const id = db.prepare<[Buffer], number>('SELECT id FROM accounts WHERE key_hash = ?').pluck().get(hash)!
    db.prepare(
      `INSERT INTO albums (id, account, parent, name, depth, created_at) VALUES (?, ?, NULL, '', 0, ?)
       ON CONFLICT (account) WHERE parent IS NULL DO NOTHING`,
    ).run(random(16).toString('hex'), id, now)
    const root = db
      .prepare<[number], number>('SELECT seq FROM albums WHERE account = ? AND parent IS NULL')
      .pluck()
      .get(id)!
    return { id, root }
  }

  return {
    /** The account that a key belongs to. How long it takes tells nothing about the keys. */
    byKey(key: string): Account | null {
      const hash = hashed(key)
      let found: Account | null = null
      for (const known of keys) if (timingSafeEqual(known.hash, hash)) found = known.account
      return found
    },
  }
}

function hashed(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
