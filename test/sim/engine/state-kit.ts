import type { Statement } from 'better-sqlite3'
import type { Pause } from '../../../src/daemon/state/pause.ts'
import { type Db, openDatabase } from '../../../src/synced/database.ts'
import { groupCommits, openSynced, type Synced } from '../../../src/synced/synced.ts'
import type { FileRow } from '../../../src/synced/tables/files.ts'
import type { FolderRow } from '../../../src/synced/tables/folders.ts'
import { split } from '../disk/tree.ts'
import type { Random } from '../histories/random.ts'
import type { Known } from '../judges/quota-judge.ts'
import { type FindSecret, secretFinder } from '../judges/secrecy.ts'
import type { Life } from './virtual-clock.ts'
import type { World } from './world.ts'

/** The rows of every table. */
export type Saved = ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>

/** albumd's database in memory. One serves many histories, one after the other. */
export interface StateKit {
  readonly synced: Synced
  clear(): void
  findSecret: FindSecret
  save(): Saved
  restore(saved: Saved): void
  /** The tables as one process has them: what it had not committed when it ended is lost. */
  of(life: Life, random: Random): Synced
  /** The process has ended by itself, or was killed. */
  end(how: 'closed' | 'killed'): void
  /** Whether the power is to be cut now. Memory has no power cuts: see `test/sim/power`. */
  isDue(): boolean
  cut(): void
  /** The power stays. */
  calm(): void
}

/** The tables that foreign keys lead to, each before those that it refers to itself. */
const REFERRED_TO = ['files', 'images', 'albums', 'folders', 'mirrors']

export function openStateKit(): StateKit {
  const db = openDatabase(':memory:')
  keepStatements(db)
  // Whatever the process remembers of its records goes with them, so records that are put back are opened anew.
  let synced = openSynced(db)
  const all = db.prepare<[], string>(`SELECT name FROM sqlite_master WHERE type = 'table'`).pluck().all()
  // What others refer to goes last. To shut the foreign keys off instead would have SQLite prepare every statement anew.
  const tables = [...all.filter(table => !REFERRED_TO.includes(table)), ...REFERRED_TO]
  const deletions = tables.map(table => db.prepare(`DELETE FROM ${table}`))
  const selections = tables.map(
    table => [table, db.prepare<[], Record<string, unknown>>(`SELECT * FROM ${table}`)] as const,
  )
  const deleteAll = db.transaction(() => {
    for (const deletion of deletions) deletion.run()
  })
  const whole = (change: () => void) => {
    db.pragma('foreign_keys = OFF')
    db.transaction(change)()
    db.pragma('foreign_keys = ON')
  }

  return {
    end() {},
    isDue: () => false,
    cut() {},
    calm() {},
    get synced() {
      return synced
    },
    clear() {
      deleteAll()
      synced = openSynced(db)
    },
    findSecret: secretFinder(db, tables),
    save: () => new Map(selections.map(([table, all]) => [table, all.all()])),
    restore(saved) {
      whole(() => {
        deleteAll()
        for (const [table, rows] of saved)
          for (const row of rows.map(Object.values))
            db.prepare(`INSERT INTO ${table} VALUES (${row.map(() => '?').join()})`).run(row)
      })
      synced = openSynced(db)
    },
    of(life, random) {
      const commit = groupCommits(db, {
        schedule(flush) {
          life.time.after(
            random.below(8),
            () => {
              if (!life.dead) life.step('before a commit')
              if (life.dead) return
              flush()
              life.step('after a commit')
            },
            'a commit',
          )
        },
      })
      return {
        ...synced,
        commit: change =>
          life.dead ? new Promise(() => {}) : commit(() => life.survive(() => synced.commitNow(change))),
      }
    },
  }
}

/** Has SQLite prepare each statement once: records are opened for every history, with the same two hundred. */
function keepStatements(db: Db): void {
  const prepare = db.prepare.bind(db)
  const kept = new Map<string, Statement>()
  const keptOf = (sql: string): Statement => {
    const statement = prepare(sql)
    let plucked: Statement | null = null
    // A plucked one stays so, and the same text may be asked for with all columns too.
    return Object.assign(statement, { pluck: () => (plucked ??= prepare(sql).pluck()) })
  }
  const given = (sql: string) => kept.get(sql) ?? kept.set(sql, keptOf(sql)).get(sql)!
  Object.assign(db, { prepare: given })
}

/** Whether a mirror has records of pictures, also of gone ones. */
export function heldPictures({ mirrors, folders }: Synced, folder: string): boolean {
  const row = mirrors.of(folder)
  return row !== undefined && folders.withFiles(row.id).length > 0
}

/** Whether it has some that are not gone. */
export function holdsPictures({ mirrors, folders, files }: Synced, folder: string): boolean {
  const row = mirrors.of(folder)
  return row !== undefined && folders.withFiles(row.id).some(({ id }) => files.someOf(id, 1).length > 0)
}

/** The row of a picture's place. */
export function rowAt(
  synced: Synced,
  policies: readonly { folder: string }[],
  path: string,
): FileRow | undefined {
  const { folder, name } = split(path)
  const record = folderAt(synced, policies, folder)
  return record && synced.files.at({ folder: record.id, name })
}

/** The row of a folder, or of a root. */
export function folderAt(
  { mirrors, folders }: Synced,
  policies: readonly { folder: string }[],
  path: string,
): FolderRow | undefined {
  const mirror = policies.find(({ folder }) => `${path}/`.startsWith(`${folder}/`))
  const row = mirror && mirrors.of(mirror.folder)
  return row && folders.at(row.id, path.slice(mirror.folder.length + 1))
}

/** Where it is, or was. */
export function pathOfRow({ mirrors, folders }: Synced, { folder, name }: FileRow): string {
  const { mirror, path } = folders.byId(folder)!
  const root = mirrors.byId(mirror)!.folder
  return path === '' ? `${root}/${name}` : `${root}/${path}/${name}`
}

/** What is recorded of a picture's place; `image`: the remote id that stands for it. */
export function recordedAt(
  synced: Synced,
  policies: readonly { folder: string }[],
  path: string,
): { state: string; since: number | null; size: number; image: string | null } | undefined {
  const file = rowAt(synced, policies, path)
  if (!file) return undefined
  const image = file.image === null ? null : synced.images.byId(file.image)!.remote_id
  return { state: file.state, since: file.since, size: file.size, image }
}

/** albumd's records, as people save them, take an old copy back, and lose them. */
export class SavedState {
  readonly #world: World
  #saved: { rows: Saved; pause: Pause | null; quota: Known } | null = null
  /** The state is another one than the last process left. */
  knowsLess = false

  constructor(world: World) {
    this.#world = world
  }

  save(): void {
    const { state, pausing, oracle } = this.#world
    this.#saved = { rows: state.save(), pause: pausing.saved(), quota: oracle.quota.recorded() }
  }

  /** False: none was saved. */
  restore(downMs: number): boolean {
    if (!this.#saved) return false
    this.#replace(downMs)
    const { state, pausing, oracle } = this.#world
    state.restore(this.#saved.rows)
    pausing.restored(this.#saved.pause)
    oracle.quota.restored(this.#saved.quota)
    return true
  }

  lose(downMs: number): void {
    this.#replace(downMs)
    this.#world.state.clear()
    this.#world.pausing.restored(null)
    this.#world.oracle.quota.restored(null)
  }

  #replace(downMs: number): void {
    const { oracle, host, looks, doubts, emptied, copies, pruning } = this.#world
    this.#world.kill(downMs)
    this.knowsLess = true
    oracle.forgetDeletions()
    host.mayBlink = false
    looks.clear()
    doubts.lostMount.clear()
    doubts.otherRoot.clear()
    doubts.ignoreGone.clear()
    emptied.forget('')
    copies.forget('')
    pruning.forget()
  }
}
