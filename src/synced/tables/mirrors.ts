import type { Identity } from '../../local/disk.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'

/** ROOT: the root is in doubt. FOLDER_UNKNOWN: a folder below it is in doubt. SCAN_ENDED: the last scan was ended early. */
export type GuardCode = 'ROOT' | 'FOLDER_UNKNOWN' | 'SCAN_ENDED'

export interface Guard {
  code: GuardCode
  reason: Reason
}

export interface MirrorRow {
  id: number
  folder: string
  album: string
  dev: number | null
  ino: number | null
  birthtime: number | null
  guard: Reason | null
  guard_code: GuardCode | null
  phase: 'scanning' | 'syncing' | null
  /** Whether a person trusts this root. 0: not. 1: what the next whole scan lacks counts as deleted. 2: it was found empty, and may stay so. */
  accept: 0 | 1 | 2
  /** 1: many deletions wait together, and those of pictures that are gone are many even without those of edited ones. */
  many_news: 0 | 1
}

/** The mirrors that the state knows. When a mirror is taken out of the config, its records stay. */
export function openMirrors({ all, get, kept, note, run }: Statements) {
  const byFolder = kept('mirrors', get<[folder: string], MirrorRow>('SELECT * FROM mirrors WHERE folder = ?'))
  const insert = run<[folder: string, album: string]>('INSERT INTO mirrors (folder, album) VALUES (?, ?)')
  const setAccept = run<[MirrorRow['accept'], id: number]>('UPDATE mirrors SET accept = ? WHERE id = ?')
  const setGuard = run<[{ id: number; guard: Reason | null; code: GuardCode | null }]>(
    `UPDATE mirrors SET guard = @guard, guard_code = @code
     WHERE id = @id AND (guard IS NOT @guard OR guard_code IS NOT @code)`,
  )
  const setPhase = note<[MirrorRow['phase'], id: number]>('UPDATE mirrors SET phase = ? WHERE id = ?')

  return {
    reads: {
      of: byFolder,
      byId: get<[id: number], MirrorRow>('SELECT * FROM mirrors WHERE id = ?'),
      all: all<[], MirrorRow>('SELECT * FROM mirrors'),
      /** The ids of those mirrors of a config that the state knows. */
      idsOf: (mirrors: readonly { folder: string }[]): number[] =>
        mirrors.flatMap(({ folder }) => byFolder(folder)?.id ?? []),
    },
    writes: {
      add(folder: string, album: string): MirrorRow {
        insert(folder, album)
        return byFolder(folder)!
      },
      /** Records which folder the mirror's root is. */
      trusted: run<[Identity & { id: number }]>(
        `UPDATE mirrors SET dev = @dev, ino = @ino, birthtime = @birthtime
         WHERE id = @id AND (dev IS NOT @dev OR ino IS NOT @ino OR birthtime IS NOT @birthtime)`,
      ),
      moved: run<[folder: string, id: number]>('UPDATE mirrors SET folder = ? WHERE id = ?'),
      manyNews: run<[many_news: MirrorRow['many_news'], id: number]>(
        'UPDATE mirrors SET many_news = ? WHERE id = ?',
      ),
      accept: (id: number, accept: MirrorRow['accept']) => setAccept(accept, id),
      phase: (id: number, phase: MirrorRow['phase']) => setPhase(phase, id),
      /** Removes the guards of scans that were ended early, because the next process scans everything. */
      endScans: run<[]>(`UPDATE mirrors SET guard = NULL, guard_code = NULL WHERE guard_code = 'SCAN_ENDED'`),
      endPhases: note<[]>('UPDATE mirrors SET phase = NULL'),
      guard: (id: number, guard: Guard | null) =>
        setGuard({ id, guard: guard?.reason ?? null, code: guard?.code ?? null }),
    },
  }
}
