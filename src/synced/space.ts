import type { Db } from './database.ts'

/** Free pages that are kept, beside a quarter of the file: what grows again finds its room. 4 MiB. */
const KEPT_PAGES = 1024

/** Room in the database's file that nothing needs. Before the first albumd with it a file gave none back. */
export function openSpace(db: Db) {
  const pragma = (name: string) => db.pragma(name, { simple: true }) as number

  return {
    reads: {
      /** Whether more of the file is free than is worth keeping. */
      isTooMuch(): boolean {
        if (pragma('auto_vacuum') !== INCREMENTAL) return false
        return pragma('freelist_count') > KEPT_PAGES + pragma('page_count') / 4
      },
    },
    writes: {
      /** Gives at most so many pages back to the disk. Belongs into a commit. */
      giveBack: (pages: number): void => void db.pragma(`incremental_vacuum(${pages})`),
    },
  }
}

const INCREMENTAL = 2
