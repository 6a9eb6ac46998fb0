import Database from 'better-sqlite3'
import { STEPS } from '../../src/synced/schema.ts'

/** A database as the first albumd left it, with rows in every table. */
export function makeVersion1(file: string): void {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('foreign_keys = ON')
  db.exec(STEPS[0]!)
  db.pragma('user_version = 1')
  db.exec(`
    INSERT INTO meta VALUES ('base_url', 'https://images.example.com/api/v1'), ('running_ms', '5000');
    INSERT INTO mirrors (id, folder, album, dev, ino, birthtime) VALUES (1, '/srv/photos', 'Photos', 1, 2, 3);
    INSERT INTO folders (id, mirror, path, digest, files) VALUES (1, 1, '', 'd', 2), (2, 1, 'a', NULL, 1);
    INSERT INTO albums (id, parent, name, remote_id, ours) VALUES (1, NULL, 'Photos', 'al1', 1), (2, 1, 'a', 'al2', 0);
    INSERT INTO images (id, remote_id, cdn_url, album, name, hash, size, mime, width, height, recorded_at) VALUES
      (7, 'im7', 'https://cdn.example.com/i/im7', 1, 'red.png', x'01', 10, 'image/png', 3, 2, 1000),
      (8, 'im8', 'https://cdn.example.com/i/im8', 2, 'old.png', x'02', 11, 'image/png', NULL, NULL, 1001),
      (9, 'im9', 'https://cdn.example.com/i/im9', NULL, 'gone.png', x'03', 12, 'image/png', 1, 1, 1002);
    INSERT INTO files VALUES
      (1, 'red.png', 10, 1, 2, 3, 'synced', NULL, 7, x'01'),
      (1, 'gone.png', 12, 1, 2, 4, 'gone', 9, 9, x'03'),
      (2, 'old.png', 13, 1, 2, 5, 'pending', 9, 8, NULL);
    INSERT INTO journal (id, kind, since, folder, name, size, mtime, hash, mime, width, height, cdn_url, album) VALUES
      (3, 'upload', 900, 2, 'old.png', 13, 1, x'04', 'image/png', 1, 1, 'https://cdn.example.com/i/im10', 2);
    INSERT INTO journal (id, kind, since, image) VALUES (4, 'delete_image', 901, 9);
    INSERT INTO escrow VALUES (9, 1, 'gone.png', 'deleted', 'held', 950, 6000);
    INSERT INTO given_up VALUES (400, 1, 5);
    INSERT INTO failures VALUES (2, 'old.png', 'upload', 'FILE_TOO_LARGE', 'too large', 2, NULL);
    INSERT INTO blocks VALUES ('delete', 'PLAN_NOT_SUPPORTED', 'no', 1, 2);
    INSERT INTO quota VALUES ('2026-11-20', 4, NULL, NULL);
  `)
  db.close()
}
