import type { Statements } from '../database.ts'

export interface AlbumRow {
  id: number
  parent: number | null
  name: string
  remote_id: string
  ours: 0 | 1
  /** 0: the host did not know the album's id, so albumd must look for the album again. */
  confirmed: 0 | 1
  /** When albumd created the album, in monotonic milliseconds. Null: somebody else did, or something was put into it. */
  made_at: number | null
}

/** The albums on the host that albumd uses. */
export function openAlbums({ all, get, kept, run }: Statements) {
  const named = kept(
    'albums',
    get<[parent: number | null, name: string], AlbumRow>(
      'SELECT * FROM albums WHERE coalesce(parent, 0) = ifnull(?, 0) AND name = ?',
    ),
  )
  const byId = kept('albums', get<[id: number], AlbumRow>('SELECT * FROM albums WHERE id = ?'))
  const byRemoteId = get<[remoteId: string], AlbumRow>('SELECT * FROM albums WHERE remote_id = ?')
  const insert = run<[parent: number | null, name: string, remoteId: string, ours: number]>(
    'INSERT INTO albums (parent, name, remote_id, ours) VALUES (?, ?, ?, ?)',
  )
  const setRemote = run<[remoteId: string, ours: number, id: number]>(
    'UPDATE albums SET remote_id = ?, ours = ?, confirmed = 1 WHERE id = ?',
  )
  const setPlace = run<[parent: number | null, name: string, confirmed: number, id: number]>(
    'UPDATE albums SET parent = ?, name = ?, confirmed = ? WHERE id = ?',
  )
  const confirm = run<[id: number]>('UPDATE albums SET confirmed = 1 WHERE id = ?')
  const use = run<[id: number]>('UPDATE albums SET made_at = NULL WHERE id = ?')
  const doubtChildren = run<[id: number]>('UPDATE albums SET confirmed = 0 WHERE coalesce(parent, 0) = ?')

  /** Whether `album` is the album `above`, or lies below it. */
  function liesIn(album: number | null, above: number): boolean {
    for (let at = album; at !== null; at = byId(at)!.parent) if (at === above) return true
    return false
  }

  /** Moves an album's record to where the host lists it. The row keeps its id, which images and intents name. `lost`: the
   * record that has this place now; it gets the old one. Nothing changes where an album would lie below itself. */
  function move(album: AlbumRow, parent: number | null, name: string, lost: AlbumRow | undefined): AlbumRow {
    if (liesIn(parent, album.id) || (lost && liesIn(album.id, lost.id))) return album
    // Two records can't have one place. So `lost` waits at the empty name, which no album has (§4.6).
    if (lost) setPlace(lost.parent, '', 0, lost.id)
    setPlace(parent, name, 1, album.id)
    if (lost) setPlace(album.parent, album.name, 0, lost.id)
    return byId(album.id)!
  }

  return {
    reads: {
      named,
      byId,
      byRemoteId,
      all: all<[], AlbumRow>('SELECT * FROM albums ORDER BY id'),
    },
    writes: {
      /** Records that the host has an album with this id under this parent and name. `ours`: albumd created the album. When
       * another id is recorded there, its record gets the new id. When this id is recorded elsewhere, its record moves
       * here, unless an album would then lie below itself. Returns the record with the id. */
      put(parent: number | null, name: string, remoteId: string, ours: boolean): AlbumRow {
        const known = named(parent, name)
        const held = byRemoteId(remoteId)
        if (held && held.id !== known?.id) return move(held, parent, name, known)
        if (held) confirm(held.id)
        else if (known) {
          setRemote(remoteId, Number(ours), known.id)
          // The recorded albums below lay in the album with the old id, which is gone. So they are looked for again.
          doubtChildren(known.id)
        } else insert(parent, name, remoteId, Number(ours))
        return byRemoteId(remoteId)!
      },
      /** Records when albumd created the album, in monotonic milliseconds. */
      made: run<[monotonic: number, remoteId: string]>('UPDATE albums SET made_at = ? WHERE remote_id = ?'),
      used(id: number): void {
        if (byId(id)?.made_at !== null) use(id)
      },
      /** Makes all recorded monotonic times the present time, after a boot (sync/clock.ts). */
      restartClocks: run<[monotonic: number]>('UPDATE albums SET made_at = ? WHERE made_at IS NOT NULL'),
      /** Notes that the host did not know the album's id, so the album is looked for again. */
      doubt: run<[remoteId: string]>('UPDATE albums SET confirmed = 0 WHERE remote_id = ?'),
    },
  }
}

/** How many unrecorded images each album holds. An unrecorded image may be the image of a picture that is about to be
 * uploaded. So an album is walked before the first upload into it, unless the count here is 0. Albums have a count once
 * they were walked, or when albumd created them. A null album is the host's root. */
export function openContents({ has, run, value }: Statements) {
  return {
    reads: {
      /** How many unrecorded images the album holds; undefined when the album was not walked yet. */
      unrecorded: value<[album: number | null], number | undefined>(
        'SELECT unrecorded FROM contents WHERE album = ifnull(?, 0)',
      ),
      /** Whether any album has a count. When none has, the records are new, an older copy, or of a first run that was cut off. */
      anyCounted: has<[]>('SELECT 1 FROM contents'),
    },
    writes: {
      put: run<[album: number | null, unrecorded: number]>(
        `INSERT INTO contents (album, unrecorded) VALUES (ifnull(?, 0), ?)
         ON CONFLICT DO UPDATE SET unrecorded = excluded.unrecorded`,
      ),
      /** Forgets all counts, because the records may be old. */
      forget: run<[]>('DELETE FROM contents'),
      forgetAlbum: run<[album: number | null]>('DELETE FROM contents WHERE album = ifnull(?, 0)'),
    },
  }
}

/** empty: a complete walk showed no image and no album in the album, for the first time at `since`. occupied: at `since` the
 * album held an unrecorded image, or the host refused to delete it. deleting: albumd asked the host to delete the album, which
 * may be gone by now. */
export interface UnusedAlbumRow {
  album: number
  /** Milliseconds since the machine started. */
  since: number
  state: 'empty' | 'occupied' | 'deleting'
}

/** Albums that albumd created and that nothing needs. */
export function openUnusedAlbums({ all, get, kept, run, value }: Statements) {
  const put = run<[UnusedAlbumRow]>(
    `INSERT INTO unused_albums (album, since, state) VALUES (@album, @since, @state)
     ON CONFLICT DO UPDATE SET since = excluded.since, state = excluded.state`,
  )
  const ofNoUse = [
    'DELETE FROM unused_albums WHERE album = ?',
    'DELETE FROM contents WHERE album = ?',
    'DELETE FROM audit WHERE album = ?',
    'DELETE FROM audit_findings WHERE album = ?',
    'DELETE FROM albums WHERE id = ?',
  ].map(sql => run<[album: number]>(sql))

  return {
    reads: {
      /** Albums that albumd created, in which no image is recorded, and for which the journal has no open intent. */
      unused: all<[], AlbumRow>(`SELECT * FROM albums WHERE ours = 1 AND confirmed = 1
       AND NOT EXISTS (SELECT 1 FROM images WHERE images.album = albums.id)
       AND NOT EXISTS (SELECT 1 FROM journal WHERE journal.album = albums.id)`),
      /** The albums that are recorded in this album. */
      below: all<[album: number | null], AlbumRow>('SELECT * FROM albums WHERE parent IS +?'),
      all: all<[], UnusedAlbumRow>('SELECT * FROM unused_albums ORDER BY album'),
      at: kept(
        'unused_albums',
        get<[album: number], UnusedAlbumRow>('SELECT * FROM unused_albums WHERE album = ?'),
      ),
      /** The earliest `since` of the albums that are empty or being deleted, in monotonic milliseconds. Null: there is none. */
      oldest: value<[], number | null>(`SELECT min(since) FROM unused_albums WHERE state <> 'occupied'`),
    },
    writes: {
      put: (row: UnusedAlbumRow) => put({ ...row, since: Math.round(row.since) }),
      remove: run<[album: number]>('DELETE FROM unused_albums WHERE album = ?'),
      /** Forgets an album that is gone from the host. No image may be recorded in it. */
      forgetAlbum(album: number): void {
        for (const forget of ofNoUse) forget(album)
      },
      /** Makes all recorded monotonic times the present time, after a boot (sync/clock.ts). */
      restartClocks: run<[monotonic: number]>('UPDATE unused_albums SET since = round(?)'),
    },
  }
}
