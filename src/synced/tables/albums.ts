import type { Statements } from '../database.ts'

export interface AlbumRow {
  id: number
  parent: number | null
  name: string
  remote_id: string
  ours: 0 | 1
  /** 0: the host did not know the album's id, so the album must be looked for again. */
  confirmed: 0 | 1
  /**
   * 1: albumd created the album although the plan lists no albums and the records may be old. The host may hold another album
   * of this name.
   */
  blind: 0 | 1
  /**
   * When albumd created the album, in monotonic milliseconds of this boot. Null when albumd did not create the album, or when
   * the album has been used since.
   */
  made_at: number | null
  /** When the host last said that no album can be created in this album: milliseconds since 1970. Null: it did not. */
  closed_at: number | null
  /** 1: albumd created this album in place of another, although no listing could show that the other was gone. */
  remade: 0 | 1
}

/** The albums on the host that albumd uses. */
export function openAlbums({ all, get, run }: Statements) {
  const named = get<[parent: number | null, name: string], AlbumRow>(
    'SELECT * FROM albums WHERE coalesce(parent, 0) = ifnull(?, 0) AND name = ?',
  )
  const byId = get<[id: number], AlbumRow>('SELECT * FROM albums WHERE id = ?')
  const byRemoteId = get<[remoteId: string], AlbumRow>('SELECT * FROM albums WHERE remote_id = ?')
  const insert = run<[parent: number | null, name: string, remoteId: string, ours: number]>(
    'INSERT INTO albums (parent, name, remote_id, ours) VALUES (?, ?, ?, ?)',
  )
  const setRemote = run<[remoteId: string, ours: number, id: number]>(
    'UPDATE albums SET remote_id = ?, ours = ?, confirmed = 1, blind = 0, closed_at = NULL WHERE id = ?',
  )
  const setPlace = run<[parent: number | null, name: string, confirmed: number, id: number]>(
    'UPDATE albums SET parent = ?, name = ?, confirmed = ? WHERE id = ?',
  )
  const confirm = run<[id: number]>('UPDATE albums SET confirmed = 1, blind = 0 WHERE id = ?')
  const doubtChildren = run<[id: number]>('UPDATE albums SET confirmed = 0 WHERE coalesce(parent, 0) = ?')

  /** Whether an album is the album `above`, or lies below it. */
  function liesIn(album: number | null, above: number): boolean {
    for (let at = album; at !== null; at = byId(at)!.parent) if (at === above) return true
    return false
  }

  /**
   * Moves the record of an album that the host lists under another parent or name. The row keeps its id, because images and
   * intents name it. When another record has this parent and name, the two records swap them. When an album would then lie
   * below itself, nothing changes.
   */
  function move(album: AlbumRow, parent: number | null, name: string, lost: AlbumRow | undefined): AlbumRow {
    if (liesIn(parent, album.id) || (lost && liesIn(album.id, lost.id))) return album
    // No album has an empty name (§4.6), so the empty name is free for the moment of the swap.
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
      closed: all<[], AlbumRow>('SELECT * FROM albums WHERE closed_at IS NOT NULL ORDER BY id'),
    },
    writes: {
      /**
       * Records an album under its parent and name. When another album was recorded there, its record gets the new id.
       * `ours`: albumd created the album. When the id is recorded under another parent or name, that record moves here,
       * unless an album would then lie below itself. Answers the record with the id.
       */
      put(parent: number | null, name: string, remoteId: string, ours: boolean): AlbumRow {
        const known = named(parent, name)
        const held = byRemoteId(remoteId)
        if (held && held.id !== known?.id) return move(held, parent, name, known)
        if (held) confirm(held.id)
        else if (known) {
          setRemote(remoteId, Number(ours), known.id)
          // The recorded albums below were in the album that is lost, so they are looked for again.
          doubtChildren(known.id)
        } else insert(parent, name, remoteId, Number(ours))
        return byRemoteId(remoteId)!
      },
      /** Records when albumd created the album, in monotonic milliseconds. */
      made: run<[monotonic: number, remoteId: string]>('UPDATE albums SET made_at = ? WHERE remote_id = ?'),
      madeBlind: run<[id: number]>('UPDATE albums SET confirmed = 0, blind = 1 WHERE id = ?'),
      used: run<[id: number]>('UPDATE albums SET made_at = NULL WHERE id = ?'),
      remade: run<[remade: 0 | 1, id: number]>('UPDATE albums SET remade = ? WHERE id = ?'),
      /** `at`: milliseconds since 1970. Null: albums can be created in this album. */
      close: run<[at: number | null, id: number]>('UPDATE albums SET closed_at = ? WHERE id = ?'),
      /** After a boot the monotonic clock has begun again, so recorded times are set to the present time. */
      restartClocks: run<[monotonic: number]>('UPDATE albums SET made_at = ? WHERE made_at IS NOT NULL'),
      /** Puts the album with this id in doubt, so that it is looked for again. */
      doubt: run<[remoteId: string]>('UPDATE albums SET confirmed = 0 WHERE remote_id = ?'),
    },
  }
}

/**
 * How many images without a record each album holds. Such an image may be a picture that is about to be uploaded, so an album
 * is walked before the first upload into it, unless the album is recorded here with the count 0. Albums that were walked or
 * that albumd created have a count. A null album is the host's root.
 */
export function openContents({ run, value }: Statements) {
  return {
    reads: {
      /** How many unrecorded images the album holds; undefined when the album was not walked yet. */
      unrecorded: value<[album: number | null], number | undefined>(
        'SELECT unrecorded FROM contents WHERE album = ifnull(?, 0)',
      ),
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

/**
 * empty: a complete walk showed nothing in the album, first at `since`.
 * occupied: at `since` the album held an unrecorded image, or the host refused its deletion.
 * deleting: its deletion may have been done.
 */
export interface UnusedAlbumRow {
  album: number
  /** Monotonic milliseconds of this boot. */
  since: number
  state: 'empty' | 'occupied' | 'deleting'
}

/** Albums that albumd created and that nothing needs. */
export function openUnusedAlbums({ all, get, run, value }: Statements) {
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
      /** Albums that albumd created, in which no image is recorded, and for which no intent is open. */
      unused: all<[], AlbumRow>(`SELECT * FROM albums WHERE ours = 1 AND confirmed = 1
       AND NOT EXISTS (SELECT 1 FROM images WHERE images.album = albums.id)
       AND NOT EXISTS (SELECT 1 FROM journal WHERE journal.album = albums.id)`),
      /** The albums that are recorded in this album. */
      below: all<[album: number], AlbumRow>('SELECT * FROM albums WHERE parent = +?'),
      all: all<[], UnusedAlbumRow>('SELECT * FROM unused_albums ORDER BY album'),
      at: get<[album: number], UnusedAlbumRow>('SELECT * FROM unused_albums WHERE album = ?'),
      /** When the album that waits longest was first seen empty, in monotonic milliseconds; null when none waits. */
      oldest: value<[], number | null>(`SELECT min(since) FROM unused_albums WHERE state <> 'occupied'`),
    },
    writes: {
      put: (row: UnusedAlbumRow) => put({ ...row, since: Math.round(row.since) }),
      remove: run<[album: number]>('DELETE FROM unused_albums WHERE album = ?'),
      /** Forgets an album that is gone from the host. No image may be recorded in it. */
      forgetAlbum(album: number): void {
        for (const forget of ofNoUse) forget(album)
      },
      /** After a boot the monotonic clock has begun again, so recorded times are set to the present time. */
      restartClocks: run<[monotonic: number]>('UPDATE unused_albums SET since = round(?)'),
    },
  }
}
