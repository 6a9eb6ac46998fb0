import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { stateFiles } from '../../../src/daemon/state/claim.ts'
import { openRecords, type Records } from '../../../src/daemon/state/records.ts'
import { makeFolder } from '../../../src/local/make-folder.ts'
import { type Db, openDatabase } from '../../../src/synced/database.ts'
import { type Lock, lockState } from '../../../src/synced/lock.ts'
import { openSynced, type Synced } from '../../../src/synced/synced.ts'
import { readWitness } from '../../../src/synced/witness.ts'
import type { StateKit } from '../engine/state-kit.ts'
import type { Life } from '../engine/virtual-clock.ts'
import { Random } from '../histories/random.ts'
import { secretFinder } from '../judges/secrecy.ts'
import { DiskRecord } from './disk-record.ts'
import { type Names, RecordedDisk } from './recorded-disk.ts'

/** When the power is cut: before this op of the state folder's disk. */
export type Cuts = (random: Random, ops: number) => number

export interface DiskKitOptions {
  /** A folder for the disks, below the one that is recorded. */
  below: string
  /** The file with the record. */
  record: string
  /** Whether the disk keeps what it promises. */
  lasting: boolean
}

interface Opened {
  records: Records
  db: Db
  lock: Lock
}

/** albumd's state folder on a disk that is recorded, with the real records in it. A power cut leaves what `RecordedDisk` says.
 * The files that are left are made anew, so `statSync` answers the inodes and ctimes that the recorded disk has. */
export class DiskKit implements StateKit {
  readonly synced: Synced
  /** The power cuts of this history, for people. */
  cuts: string[] = []
  /** How many ops there were before the records were last left behind. */
  #before = 0
  #next = Number.POSITIVE_INFINITY
  /** What a person was told of is there whatever happens: no cut before it. */
  #told = 0
  #plan: Cuts = () => Number.POSITIVE_INFINITY
  #report: (what: string) => void = () => {}
  /** Of when commits and syncs happen. */
  #random = new Random(0)
  /** Of what is left after a power cut. */
  #luck = new Random(0)
  readonly #options: DiskKitOptions
  readonly #record: DiskRecord
  #disk: RecordedDisk
  #homes = 0
  #home = ''
  #opened: Opened | null = null
  /** Whose process has the records open; null: a command's. */
  #life: Life | null = null
  readonly #left: Opened[] = []
  /** How often the records were opened, as they say themselves, and at which op that was certain. */
  #generations = [{ generation: 0, at: 0 }]

  constructor(options: DiskKitOptions) {
    this.#options = options
    this.#record = new DiskRecord(options.record)
    this.#disk = this.#turnOn(null)
    const stat = fs.statSync
    const known = (path: unknown) => {
      this.#follow()
      return typeof path === 'string' ? this.#disk.stat(path) : null
    }
    const withKnown = ((path: string, options?: fs.StatSyncOptions) => {
      const stats = stat(path, options)
      const its = stats && known(path)
      if (!its) return stats
      const isBig = typeof stats.ino === 'bigint'
      return Object.assign(
        stats,
        isBig ? { ino: BigInt(its.ino), ctimeNs: BigInt(its.ctime) } : { ino: its.ino },
      )
    }) as typeof stat
    Object.assign(fs, { statSync: withKnown })
    syncBuiltinESMExports()
    this.synced = {} as Synced
    const names = Object.keys(openSynced(openDatabase(':memory:'))) as (keyof Synced)[]
    const given = (name: keyof Synced, get: () => unknown) =>
      Object.defineProperty(this.synced, name, { enumerable: true, configurable: true, get })
    for (const name of names) given(name, () => this.#records()[name])
    const commitNow: Synced['commitNow'] = change => {
      const value = this.#records().commitNow(change)
      this.#told = this.#ops()
      return value
    }
    given('commitNow', () => commitNow)
  }

  /** Of the next history. `report` hears what is wrong with the records that a power cut has left. */
  begin(seed: number, luck: number, plan: Cuts, report: (what: string) => void): void {
    this.#random = new Random(seed, 9)
    this.#luck = new Random(luck, 10)
    this.#plan = plan
    this.#report = report
  }

  clear(): void {
    this.#leave()
    this.#closeLeft()
    this.#record.clear()
    this.#disk = this.#turnOn(null)
    this.#generations = [{ generation: 0, at: 0 }]
    this.#before = 0
    this.#told = 0
    this.cuts = []
    this.#next = this.#plan(this.#luck, 0)
  }

  findSecret = () => {
    this.#records()
    const { db } = this.#opened!
    const tables = db.prepare<[], string>(`SELECT name FROM sqlite_master WHERE type = 'table'`).pluck().all()
    return secretFinder(db, tables)()
  }

  save(): never {
    throw new Error('nobody saves this state')
  }

  restore(): never {
    throw new Error('nobody restores this state')
  }

  of(life: Life): Synced {
    this.#close()
    this.#open(life)
    const { synced } = this.#opened!.records
    return {
      ...synced,
      commit: (change, until) =>
        life.dead ? new Promise(() => {}) : synced.commit(tx => life.survive(() => change(tx)), until),
    }
  }

  end(how: 'closed' | 'killed'): void {
    this.#follow()
    if (how === 'closed') this.#close()
    else this.#turnOff(this.#disk.whole())
  }

  isDue(): boolean {
    return this.#ops() >= this.#next
  }

  /** Cuts the power where it was due. */
  cut(): void {
    this.#follow()
    const end = Math.max(this.#next, this.#told) - this.#before
    const certain = this.#generations.findLast(({ at }) => at <= this.#before + end)!
    this.#generations = [certain]
    const { left, how } = this.#disk.afterCut(end, this.#luck)
    this.cuts.push(`before op ${this.#before + end}: ${how}`)
    this.#turnOff(left)
    this.#next = this.#plan(this.#luck, this.#before)
    // Whoever comes next finds out what became of the records.
    this.#records()
  }

  calm(): void {
    this.#next = Number.POSITIVE_INFINITY
  }

  close(): void {
    this.clear()
    this.#record.close()
  }

  #ops(): number {
    this.#follow()
    return this.#before + this.#disk.ops.length
  }

  #follow(): void {
    this.#disk.take(this.#record.news())
  }

  #records(): Synced {
    if (!this.#opened) this.#open(null)
    return this.#opened!.records.synced
  }

  #open(life: Life | null): void {
    this.#closeLeft()
    const stateDir = join(this.#home, 'state')
    makeFolder(stateDir, 0o700)
    const files = stateFiles(stateDir)
    const lock = lockState(files.lock)
    let db: Db | null = null
    this.#life = life
    const before = this.#generations.at(-1)!.generation
    const records = openRecords(files, this.#report, {
      open: (opened, options) => {
        db = opened
        // So that few commits are enough for what many thousands bring about.
        opened.pragma(`wal_autocheckpoint = ${this.#random.pick([3, 10, 4000])}`)
        opened.pragma(`journal_size_limit = ${this.#random.pick([8192, 16 * 2 ** 20])}`)
        return openSynced(opened, {
          ...options,
          begun: () => {
            options?.begun?.()
            const { generation } = readWitness(files.witness)!
            if (!life?.dead) this.#generations.push({ generation, at: this.#ops() })
          },
          schedule: flush => this.#schedule(flush),
          syncLog: log => this.#syncLog(log),
        })
      },
    })
    this.#opened = { records, db: db!, lock }
    const generation = records.synced.meta.get('generation') ?? 0
    if (generation <= before)
      this.#report(`the records are older than they were: opened ${generation} times, and ${before} before`)
  }

  #schedule(flush: () => void): void {
    const life = this.#life
    if (!life) flush()
    life?.time.after(this.#random.below(8), () => {
      if (!life.dead) life.step('before a commit')
      if (life.dead) return
      flush()
      life.step('after a commit')
    })
  }

  #syncLog(log: number): Promise<void> {
    const life = this.#life
    return new Promise(resolve => {
      const sync = () => {
        if (life?.dead) return
        fs.fdatasyncSync(log)
        life?.step('after a sync')
        if (!life?.dead) resolve()
      }
      // A memory card takes long at times.
      if (life) life.time.after(this.#random.below(this.#random.pick([8, 8, 400])), sync)
      else sync()
    })
  }

  #close(): void {
    if (!this.#opened) return
    const { records, lock } = this.#opened
    records.close('clean')
    lock.release()
    this.#opened = null
  }

  #leave(): void {
    if (this.#opened) this.#left.push(this.#opened)
    this.#opened = null
  }

  /** The machine ends, and is turned on again with what is left on its disk. */
  #turnOff(left: Names): void {
    this.#leave()
    this.#before += this.#disk.ops.length
    this.#disk = this.#turnOn(left)
  }

  #turnOn(left: Names | null): RecordedDisk {
    this.#home = join(this.#options.below, String(this.#homes++))
    fs.mkdirSync(this.#home, { recursive: true })
    for (const [path, { bytes }] of [...(left ?? [])].sort(([a], [b]) => a.length - b.length)) {
      if (path === '') continue
      if (path === 'state') fs.mkdirSync(join(this.#home, path), { mode: 0o700 })
      else fs.writeFileSync(join(this.#home, path), bytes, { mode: 0o600 })
    }
    this.#record.news()
    return new RecordedDisk(this.#home, left, this.#options.lasting)
  }

  /** Connections of processes that are no more. Closed only now, because such a process may have died in a transaction. */
  #closeLeft(): void {
    for (const { records, lock } of this.#left.splice(0)) {
      records.synced.close()
      lock.release()
    }
    for (const old of fs.readdirSync(this.#options.below))
      if (join(this.#options.below, old) !== this.#home)
        fs.rmSync(join(this.#options.below, old), { recursive: true })
  }
}
