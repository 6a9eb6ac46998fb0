import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { type Held, isAtOrBelow, type Machine } from '../../shared/claims.ts'
import { albumPathOf } from '../../sync/album.ts'
import { replaceFile } from '../../synced/private-file.ts'
import { explained } from '../../synced/state-error.ts'
import { orNull } from '../or-null.ts'

/** What the state folder keeps of this machine, beside the database: without the database it is still the same machine. */
interface Kept {
  id: string
  heldBy: string
  held: Held
}

/** This machine. Its id comes from the state folder and the system: a copy elsewhere is another one. Throws StateError. */
export function openMachine({ account: { machine: name }, state_dir }: Config): Machine {
  const file = fileIn(state_dir)
  const known = readKept(file)
  let kept: Kept = known ?? { id: randomBytes(16).toString('hex'), heldBy: '', held: NOTHING }
  const write = () => replaceFile(file, JSON.stringify(kept))
  if (known === null)
    try {
      write()
    } catch (error) {
      throw explained(error, state_dir)
    }
  const id = idOf(kept, name)
  return {
    id,
    name,
    held: () => (kept.heldBy === id ? kept.held : NOTHING),
    keepHeld(held) {
      kept = { ...kept, heldBy: id, held }
      // A failure, as on a full disk, is ignored: the machine then only waits longer for a store that lost everything.
      orNull(write)
    },
  }
}

const fileIn = (stateDir: string) => join(stateDir, 'albumd.machine')
const NOTHING: Held = { albums: {}, seen: 0 }

function readKept(file: string): Kept | null {
  const kept = orNull(() => JSON.parse(readFileSync(file, 'utf8')))
  // Earlier builds kept the albums without their numbers.
  if (Array.isArray(kept?.held)) {
    const albums = Object.fromEntries(kept.held.map((album: string) => [album, 1]))
    return { ...kept, held: { albums, seen: 0 } }
  }
  return kept
}

function idOf({ id }: Kept, name: string): string {
  return createHash('sha256')
    .update(`${id}\0${idOfSystem() ?? name}`)
    .digest('hex')
    .slice(0, 32)
}

/** The id of this system. Null: the system has none, as in a container. */
function idOfSystem(): string | null {
  const id = orNull(() => readFileSync('/etc/machine-id', 'utf8').trim())
  return id && /^[0-9a-f]{32}$/.test(id) ? id : null
}

/** The albums of the mirrors. `isOwn`: whether an album is one of them or lies below one. */
export function ownAlbums(mirrors: Config['mirrors']) {
  const albums = mirrors.map(({ album }) => albumPathOf(album, '').join('/'))
  return { albums, isOwn: (album: string) => isAtOrBelow(album, albums) }
}
