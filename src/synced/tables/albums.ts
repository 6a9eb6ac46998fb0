import type { Db } from '../database.ts'

export interface AlbumRow {
  id: number
  parent: number | null
  name: string
  remote_id: string
  ours: 0 | 1
  /** 0: the host did not know its id; it is to be looked for again. */
  confirmed: 0 | 1
  /** 1: made though the plan lists no albums and the records may know too little. Not confirmed: a twin may be there. */
  blind: 0 | 1
  /** Monotonic milliseconds of this boot, when albumd made it; null where it did not, or the host has used it since. */
  made_at: number | null
}

/** The albums on the host that mirrors hang in. */
export function openAlbums(db: Db) {
  const named = db.prepare<[number, string], AlbumRow>(
    'SELECT * FROM albums WHERE coalesce(parent, 0) = ? AND name = ?',
  )
  const byId = db.prepare<[number], AlbumRow>('SELECT * FROM albums WHERE id = ?')
  const byRemoteId = db.prepare<[string], AlbumRow>('SELECT * FROM albums WHERE remote_id = ?')
  const insert = db.prepare<[number | null, string, string, number]>(
    'INSERT INTO albums (parent, name, remote_id, ours) VALUES (?, ?, ?, ?)',
  )
  const setMade = db.prepare<[number, string]>('UPDATE albums SET made_at = ? WHERE remote_id = ?')
  const used = db.prepare<[number]>('UPDATE albums SET made_at = NULL WHERE id = ?')
  const restartClocks = db.prepare<[number]>('UPDATE albums SET made_at = ? WHERE made_at IS NOT NULL')
  const all = db.prepare<[], AlbumRow>('SELECT * FROM albums ORDER BY id')
  const setRemote = db.prepare<[string, number, number]>(
    'UPDATE albums SET remote_id = ?, ours = ?, confirmed = 1, blind = 0 WHERE id = ?',
  )
  const setPlace = db.prepare<[number | null, string, number, number]>(
    'UPDATE albums SET parent = ?, name = ?, confirmed = ? WHERE id = ?',
  )
  const confirm = db.prepare<[number]>('UPDATE albums SET confirmed = 1, blind = 0 WHERE id = ?')
  const doubt = db.prepare<[string]>('UPDATE albums SET confirmed = 0 WHERE remote_id = ?')
  const madeBlind = db.prepare<[number]>('UPDATE albums SET confirmed = 0, blind = 1 WHERE id = ?')
  const doubtChildren = db.prepare<[number]>('UPDATE albums SET confirmed = 0 WHERE coalesce(parent, 0) = ?')

  /** Whether an album is `above`, or lies below it. */
  function liesIn(album: number | null, above: number): boolean {
    for (let at = album; at !== null; at = byId.get(at)!.parent) if (at === above) return true
    return false
  }

  /**
   * The host shows an album elsewhere than recorded. Its record moves there, for images and intents name it by its
   * record; the record of a lost album that stands in that place takes the one left free. Where an album would then
   * lie below itself, the records stay as they are.
   */
  function move(album: AlbumRow, parent: number | null, name: string, lost: AlbumRow | undefined): AlbumRow {
    if (liesIn(parent, album.id) || (lost && liesIn(album.id, lost.id))) return album
    // No album has an empty name (§4.6), so that place is free meanwhile.
    if (lost) setPlace.run(lost.parent, '', 0, lost.id)
    setPlace.run(parent, name, 1, album.id)
    if (lost) setPlace.run(album.parent, album.name, 0, lost.id)
    return byId.get(album.id)!
  }

  return {
    reads: {
      named: (parent: number | null, name: string) => named.get(parent ?? 0, name),
      byId: (id: number) => byId.get(id),
      byRemoteId: (remoteId: string) => byRemoteId.get(remoteId),
      all: () => all.all(),
    },
    writes: {
      /**
       * Records an album, or that the one recorded under this name is now another. `ours`: albumd made it; what is
       * recorded of that id already stays. Answers the record of that id, which is not under this name where an album
       * would lie below itself.
       */
      put(parent: number | null, name: string, remoteId: string, ours: boolean): AlbumRow {
        const known = named.get(parent ?? 0, name)
        const held = byRemoteId.get(remoteId)
        if (held && held.id !== known?.id) return move(held, parent, name, known)
        if (held) confirm.run(held.id)
        else if (known) {
          setRemote.run(remoteId, Number(ours), known.id)
          // They lay in the album that was lost.
          doubtChildren.run(known.id)
        } else insert.run(parent, name, remoteId, Number(ours))
        return byRemoteId.get(remoteId)!
      },
      /** albumd made it at this moment of the monotonic clock. */
      made: (remoteId: string, monotonic: number) => void setMade.run(monotonic, remoteId),
      /** Nobody could look whether another of its name is there. */
      madeBlind: (id: number) => void madeBlind.run(id),
      /** The host has taken something into it: it knows it. */
      used: (id: number) => void used.run(id),
      /** Another boot has another monotonic clock. */
      restartClocks: (monotonic: number) => void restartClocks.run(monotonic),
      /** The host did not know this id: its album, if one still has it, is to be looked for again. */
      doubt: (remoteId: string) => void doubt.run(remoteId),
    },
  }
}
