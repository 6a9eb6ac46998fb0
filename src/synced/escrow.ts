import type { Db } from './database.ts'

export interface EscrowRow {
  image: number
  mirror: number
  path: string
  reason: 'deleted' | 'superseded'
  state: 'grace' | 'held' | 'approved'
  since: number
  /** Not before this time: the grace in which it may come back. */
  due_at: number
}

/** Images to be given up, each waiting until nothing speaks against it. */
export function openEscrow(db: Db) {
  const put = db.prepare<EscrowRow>(
    `INSERT INTO escrow (image, mirror, path, reason, state, since, due_at)
     VALUES (@image, @mirror, @path, @reason, @state, @since, @due_at)
     ON CONFLICT DO NOTHING`,
  )
  const ofMirror = db.prepare<[number], EscrowRow>('SELECT * FROM escrow WHERE mirror = ? ORDER BY path')
  const nextDue = db.prepare<[], { due_at: number | null }>(
    `SELECT min(due_at) AS due_at FROM escrow WHERE state <> 'held'`,
  )
  const takeBack = db.prepare<[number]>('DELETE FROM escrow WHERE image = ?')
  const setState = db.prepare<[EscrowRow['state'], number]>('UPDATE escrow SET state = ? WHERE image = ?')

  return {
    put: (row: EscrowRow) => void put.run(row),
    ofMirror: (mirror: number) => ofMirror.all(mirror),
    /** When the next grace ends; null where none runs. */
    nextDue: () => nextDue.get()!.due_at,
    /** It is needed again, or it is gone from the host. */
    takeBack: (image: number) => void takeBack.run(image),
    setState: (image: number, state: EscrowRow['state']) => void setState.run(state, image),
  }
}
