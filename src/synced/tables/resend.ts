import type { Db } from '../database.ts'
import type { FileKey } from './files.ts'

/** Files whose upload is in doubt, and that a person wants sent again all the same. */
export function openResend(db: Db) {
  const put = db.prepare<[number, string]>('INSERT OR IGNORE INTO resend (folder, name) VALUES (?, ?)')
  const has = db.prepare<[number, string], { folder: number }>(
    'SELECT folder FROM resend WHERE folder = ? AND name = ?',
  )
  const remove = db.prepare<[number, string]>('DELETE FROM resend WHERE folder = ? AND name = ?')

  return {
    reads: {
      has: ({ folder, name }: FileKey) => has.get(folder, name) !== undefined,
    },
    writes: {
      put: ({ folder, name }: FileKey) => void put.run(folder, name),
      remove: ({ folder, name }: FileKey) => void remove.run(folder, name),
    },
  }
}
