import { sep } from 'node:path'
import { type KeyPath, keyText } from './config-error.ts'
import type { Mistake } from './wording.ts'

/** A key of the config and the path that it names: of a folder or of an album. */
export interface Place {
  at: KeyPath
  path: string
}

/** One mirror's folder or album may not be, hold or lie in another's. The later of two is told. */
export function overlaps(places: readonly Place[], separator: string = sep): Mistake[] {
  return places.flatMap(({ at, path }, index) => {
    for (const earlier of places.slice(0, index)) {
      const relation = relationOf(path, earlier.path, separator)
      if (relation)
        return { path: at, message: `${relation} ${keyText(earlier.at)}; mirrors may not overlap` }
    }
    return []
  })
}

/** The folders that the state would lie in. */
export function holders(stateDir: string, folders: readonly Place[]): Mistake[] {
  const holding = folders.filter(({ path }) =>
    ['holds', 'is the same as'].includes(relationOf(path, stateDir, sep) ?? ''),
  )
  return holding.map(({ at }) => ({
    path: at,
    message: `holds state_dir (${stateDir}); name one outside of it`,
  }))
}

type Relation = 'is the same as' | 'lies in' | 'holds'

function relationOf(one: string, other: string, separator: string): Relation | null {
  const parts = one.split(separator).filter(Boolean)
  const others = other.split(separator).filter(Boolean)
  const shared = Math.min(parts.length, others.length)
  if (parts.slice(0, shared).join(separator) !== others.slice(0, shared).join(separator)) return null
  if (parts.length === others.length) return 'is the same as'
  return parts.length > others.length ? 'lies in' : 'holds'
}
