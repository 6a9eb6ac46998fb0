import type { Millis } from '../../protocol/clock.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'

/** gone: a recorded image is not listed. changed: an image is listed with another name, size, dimensions or album. foreign: an
 * image has no record. twice: no file needs the image, and a file needs another one of the same name and bytes. */
export type FindingKind = 'gone' | 'changed' | 'foreign' | 'twice'

export interface Finding {
  kind: FindingKind
  remote_id: string
  /** The album that the image is or was in; null is the root. */
  album: number | null
  /** The image's name. Before it stand the names of the unrecorded albums between `album` and the image. */
  name: string
  /** In what way the records and the listing differ. */
  detail: Reason
}

/** The progress and the findings of the audit. A null album is the host's root. */
export function openAudit({ all, column, has, run }: Statements) {
  return {
    reads: {
      /** The albums that an audit walks: those in which images are recorded, and those that albumd created. */
      albums: column<[], number | null>(
        `SELECT id FROM albums
         WHERE ours = 1 OR EXISTS (SELECT 1 FROM images WHERE images.album = albums.id)
         UNION SELECT NULL WHERE EXISTS (SELECT 1 FROM images WHERE album IS NULL) ORDER BY 1`,
      ),
      isDone: has<[album: number | null]>('SELECT album FROM audit WHERE album = ifnull(?, 0)'),
      has: has<[kind: FindingKind, remoteId: string]>(
        'SELECT kind FROM audit_findings WHERE kind = ? AND remote_id = ?',
      ),
      /** Whether this audit has found the image listed otherwise than recorded. In an album not compared yet, findings are
       * old. */
      isElsewhere: has<[remoteId: string]>(
        `SELECT 1 FROM audit_findings JOIN audit USING (album) WHERE kind = 'changed' AND remote_id = ?`,
      ),
      findings: all<[], Finding>(
        `SELECT kind, remote_id, nullif(album, 0) AS album, name, detail FROM audit_findings
         ORDER BY kind, audit_findings.album, name, remote_id`,
      ),
      /** The ids of the images that an audit found gone from the host. */
      gone: column<[], string>("SELECT remote_id FROM audit_findings WHERE kind = 'gone'"),
      kinds: all<[], { kind: FindingKind; n: number }>(
        'SELECT kind, count(*) AS n FROM audit_findings GROUP BY kind',
      ),
      /** Whether an image is in escrow or being deleted, so that how it is listed matters no more. An unproved entry does not
       * count, because only the audit can end it. */
      isLeaving: has<[{ image: number }]>(
        `SELECT image FROM escrow WHERE image = @image AND state <> 'unproved'
         UNION ALL SELECT image FROM journal JOIN files USING (image) WHERE image = @image`,
      ),
    },
    writes: {
      done: run<[album: number | null, at: Millis]>(
        'INSERT INTO audit (album, at) VALUES (ifnull(?, 0), ?) ON CONFLICT DO UPDATE SET at = excluded.at',
      ),
      forgetDone: run<[]>('DELETE FROM audit'),
      /** Forgets what was found in an album that is compared anew. */
      forgetFindings: run<[album: number | null]>('DELETE FROM audit_findings WHERE album = ifnull(?, 0)'),
      /** Forgets what was found in albums that audits walk no more. `albums`: the ids of those that they walk, as JSON. */
      keepFindings: run<[albums: string]>(
        `DELETE FROM audit_findings WHERE album NOT IN (SELECT ifnull(value, 0) FROM json_each(?))`,
      ),
      put: run<[Finding]>(
        `INSERT INTO audit_findings (kind, remote_id, album, name, detail)
         VALUES (@kind, @remote_id, ifnull(@album, 0), @name, @detail)
         ON CONFLICT DO UPDATE SET album = excluded.album, name = excluded.name, detail = excluded.detail`,
      ),
      remove: run<[kind: FindingKind, remoteId: string]>(
        'DELETE FROM audit_findings WHERE kind = ? AND remote_id = ?',
      ),
      /** Forgets findings that hold no longer. Examples: a foreign image was recorded or deleted since `began`; an image
       * that was gone has no record any more. */
      dropMoot: run<[began: number]>(`DELETE FROM audit_findings WHERE CASE kind
       WHEN 'foreign' THEN EXISTS (SELECT 1 FROM images WHERE images.remote_id = audit_findings.remote_id)
         OR EXISTS (SELECT 1 FROM deleted WHERE deleted.remote_id = audit_findings.remote_id AND deleted.at >= ?)
       WHEN 'twice' THEN EXISTS (
         SELECT 1 FROM images WHERE images.remote_id = audit_findings.remote_id AND (
           EXISTS (SELECT 1 FROM escrow WHERE escrow.image = images.id)
           OR EXISTS (SELECT 1 FROM files WHERE files.image = images.id AND files.state <> 'gone')))
       ELSE NOT EXISTS (
         SELECT 1 FROM images WHERE images.remote_id = audit_findings.remote_id
           AND (kind = 'gone'
             OR NOT EXISTS (SELECT 1 FROM escrow WHERE escrow.image = images.id AND state <> 'unproved'))
           AND NOT EXISTS (SELECT 1 FROM journal WHERE journal.image = images.id))
     END`),
      /** Forgets that images recorded in this album are listed elsewhere. The album could not be compared, and may list them
       * too. */
      dropMovedFrom: run<[album: number | null]>(
        `DELETE FROM audit_findings WHERE kind = 'changed' AND EXISTS (
           SELECT 1 FROM images WHERE images.remote_id = audit_findings.remote_id
             AND coalesce(images.album, 0) = ifnull(?, 0) AND coalesce(images.album, 0) <> audit_findings.album)`,
      ),
    },
  }
}
