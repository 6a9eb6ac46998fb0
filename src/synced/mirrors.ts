import type { Db } from './database.ts'

export interface RootIdentity {
  dev: number
  ino: number
  birthtime: number
}

export interface MirrorRow {
  id: number
  folder: string
  album: string
  dev: number | null
  ino: number | null
  birthtime: number | null
  scanned_at: number | null
  guard: string | null
  phase: 'scanning' | 'syncing' | null
}

/** The mirrors that this state knows, configured or not: one taken out of the config keeps its records. */
export function openMirrors(db: Db) {
  const byFolder = db.prepare<[string], MirrorRow>('SELECT * FROM mirrors WHERE folder = ?')
  const byId = db.prepare<[number], MirrorRow>('SELECT * FROM mirrors WHERE id = ?')
  const insert = db.prepare<[string, string]>('INSERT INTO mirrors (folder, album) VALUES (?, ?)')
  const setScanned = db.prepare<[number, number, number, number, number]>(
    'UPDATE mirrors SET scanned_at = ?, dev = ?, ino = ?, birthtime = ? WHERE id = ?',
  )
  const setGuard = db.prepare<[string | null, number]>('UPDATE mirrors SET guard = ? WHERE id = ?')
  const setPhase = db.prepare<[MirrorRow['phase'], number]>('UPDATE mirrors SET phase = ? WHERE id = ?')
  const endPhases = db.prepare('UPDATE mirrors SET phase = NULL')

  return {
    of: (folder: string) => byFolder.get(folder),
    byId: (id: number) => byId.get(id),
    add(folder: string, album: string): MirrorRow {
      insert.run(folder, album)
      return byFolder.get(folder)!
    },
    /** A complete scan came to its end, on this root. */
    scanned(id: number, at: number, root: RootIdentity): void {
      setScanned.run(at, root.dev, root.ino, root.birthtime, id)
    },
    phase: (id: number, phase: MirrorRow['phase']) => void setPhase.run(phase, id),
    endPhases: () => void endPhases.run(),
    guard(id: number, reason: string | null): void {
      setGuard.run(reason, id)
    },
  }
}
