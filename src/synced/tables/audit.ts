import type { Reason } from '../../words/reasons.ts'
import type { Db } from '../database.ts'
import { statements } from '../statements.ts'

/**
 * gone: a recorded image that is not listed any more.
 * changed: a recorded image that is listed with another name, size, dimensions or album.
 * foreign: an unrecorded image.
 * twice: an image that no file needs, and that has a twin which a file needs.
 */
export type FindingKind = 'gone' | 'changed' | 'foreign' | 'twice'

export interface Finding {
  kind: FindingKind
  /** The host's id of the image. */
  remote_id: string
  /** The album that the image is or was in; null is the root. */
  album: number | null
  name: string
  /** Why this is a finding. */
  detail: Reason
}

type FindingRow = Omit<Finding, 'album'> & { album: number }

/** The progress and the findings of the audit. A null album is the host's root. */
export function openAudit(db: Db) {
  const { has, run, value } = statements(db)
  const albums = db.prepare<[], { album: number }>(
    `SELECT id AS album FROM albums
     WHERE ours = 1 OR EXISTS (SELECT 1 FROM images WHERE images.album = albums.id)
     UNION SELECT 0 WHERE EXISTS (SELECT 1 FROM images WHERE album IS NULL) ORDER BY 1`,
  )
  const isDone = db.prepare<[number], { album: number }>('SELECT album FROM audit WHERE album = ?')
  const setDone = db.prepare<[number, number]>(
    'INSERT INTO audit (album, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at',
  )
  const put = db.prepare<FindingRow>(
    `INSERT INTO audit_findings (kind, remote_id, album, name, detail) VALUES (@kind, @remote_id, @album, @name, @detail)
     ON CONFLICT DO UPDATE SET album = excluded.album, name = excluded.name, detail = excluded.detail`,
  )
  const all = db.prepare<[], FindingRow>('SELECT * FROM audit_findings ORDER BY kind, album, name, remote_id')
  const deletedAt = db.prepare<[string], { at: number }>('SELECT at FROM deleted WHERE remote_id = ?')
  const isLeaving = db.prepare<{ image: number }, { leaving: number }>(
    `SELECT EXISTS (SELECT 1 FROM escrow WHERE image = @image)
       OR EXISTS (SELECT 1 FROM journal JOIN files ON files.image = journal.image WHERE journal.image = @image)
       AS leaving`,
  )
  const dropMovedFrom = db.prepare<[number]>(
    `DELETE FROM audit_findings WHERE kind = 'changed' AND EXISTS (
       SELECT 1 FROM images WHERE images.remote_id = audit_findings.remote_id
         AND coalesce(images.album, 0) = ? AND coalesce(images.album, 0) <> audit_findings.album)`,
  )

  return {
    reads: {
      /** The albums of recorded images, and the albums that albumd created. */
      albums: () => albums.all().map(({ album }) => (album === 0 ? null : album)),
      isDone: (album: number | null) => isDone.get(album ?? 0) !== undefined,
      has: has<[kind: FindingKind, remoteId: string]>(
        'SELECT kind FROM audit_findings WHERE kind = ? AND remote_id = ?',
      ),
      findings: (): Finding[] =>
        all.all().map(row => ({ ...row, album: row.album === 0 ? null : row.album })),
      count: value<[], number>('SELECT count(*) FROM audit_findings'),
      /** When albumd deleted the image with this id: milliseconds since 1970. */
      deletedAt: (remoteId: string) => deletedAt.get(remoteId)?.at,
      /** Whether an image waits for its deletion, or may have been deleted. */
      isLeaving: (image: number) => isLeaving.get({ image })!.leaving === 1,
    },
    writes: {
      /** `at`: milliseconds since 1970. */
      done: (album: number | null, at: number) => void setDone.run(album ?? 0, at),
      /** Forgets which albums were compared. */
      forgetDone: run<[]>('DELETE FROM audit'),
      forgetFindings: run<[]>('DELETE FROM audit_findings'),
      put: (finding: Finding) => void put.run({ ...finding, album: finding.album ?? 0 }),
      remove: run<[kind: FindingKind, remoteId: string]>(
        'DELETE FROM audit_findings WHERE kind = ? AND remote_id = ?',
      ),
      /** Forgets findings that albumd has settled since `began`. */
      dropMoot: run<[began: number]>(`DELETE FROM audit_findings WHERE CASE kind
       WHEN 'foreign' THEN EXISTS (SELECT 1 FROM images WHERE images.remote_id = audit_findings.remote_id)
         OR EXISTS (SELECT 1 FROM deleted WHERE deleted.remote_id = audit_findings.remote_id AND deleted.at >= ?)
       WHEN 'twice' THEN EXISTS (
         SELECT 1 FROM images WHERE images.remote_id = audit_findings.remote_id AND (
           EXISTS (SELECT 1 FROM escrow WHERE escrow.image = images.id)
           OR EXISTS (SELECT 1 FROM files WHERE files.image = images.id AND files.state <> 'gone')))
       ELSE NOT EXISTS (
         SELECT 1 FROM images WHERE images.remote_id = audit_findings.remote_id
           AND NOT EXISTS (SELECT 1 FROM escrow WHERE escrow.image = images.id)
           AND NOT EXISTS (SELECT 1 FROM journal WHERE journal.image = images.id))
     END`),
      /** Forgets findings of images that belong to this album and were listed in another. The album could not be compared. */
      dropMovedFrom: (album: number | null) => void dropMovedFrom.run(album ?? 0),
    },
  }
}
