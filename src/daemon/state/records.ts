import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { systemClock } from '../../protocol/clock.ts'
import { gapsFromNow } from '../../records/versions.ts'
import { noteBoot, noteLost, noteOlder } from '../../sync/clock.ts'
import { openDatabase } from '../../synced/database.ts'
import { refuseDamaged, setAside } from '../../synced/migrate.ts'
import { damaged, explained, StateError } from '../../synced/state-error.ts'
import { type MetaReads, openSynced, type Synced } from '../../synced/synced.ts'
import {
  judge,
  lastingMarkOf,
  markOf,
  type Remembered,
  readWitness,
  seenAs,
  type Verdict,
  type Witness,
  writeWitness,
} from '../../synced/witness.ts'
import { isoTime } from '../../words/text.ts'
import type { stateFiles } from './claim.ts'
import { bootId } from './last-process.ts'

type RecordFiles = Omit<ReturnType<typeof stateFiles>, 'control' | 'page' | 'pageKey'>

export interface Records {
  /** The records. Each commit checks that their files are still the ones that this process opened, because a person may replace
   * them. Uploads and deletions begin with a commit, so none is sent by replaced records. */
  synced: Synced
  /** Whether the records may lack uploads or deletions, because they are an older copy or made anew. */
  knowLess: boolean
  /** Whether also requests of the last process may still take effect. */
  lostWork: boolean
  /** `cut_off`: the records may be incomplete. `damaged`: the next opening sets the database aside. */
  close(end: 'clean' | 'cut_off' | 'damaged'): void
}

/** Opens or makes the records, sets damaged ones aside, and finds out whether they are lost or an older copy. `say`: tells a
 * person one line. `replaced`: this process found others in their place, so they may lack what it sent. Tests replace `open`.
 * Throws StateError. */
export function openRecords(
  files: RecordFiles,
  say: (line: string) => void,
  { replaced = false, open = openSynced }: { replaced?: boolean; open?: typeof openSynced } = {},
): Records {
  try {
    return openJudged(files, say, replaced, open)
  } catch (error) {
    if (!(error instanceof StateError && error.code === 'STATE_DAMAGED')) throw error
    const aside = inWords(files.database, () => setAside(files.database, systemClock.wall()))
    say(
      `${files.database}: State is damaged, and set aside as ${basename(aside)}; deletions that waited are forgotten. ${MADE_ANEW}`,
    )
    return openJudged(files, () => {}, replaced, open)
  }
}

const MADE_ANEW = 'A new one is made from what the host lists'

const SAID: Partial<Record<Verdict, string>> = {
  lost: `State is gone. ${MADE_ANEW}`,
  restored:
    'State was restored or changed by others; each album is compared with the host first. "albumd audit" finds images that were deleted since',
}

function openJudged(
  files: RecordFiles,
  say: (line: string) => void,
  replaced: boolean,
  open: typeof openSynced,
): Records {
  const { database } = files
  const witness = inWords(files.witness, () => readWitness(files.witness))
  // Size, inode and time of the database are read before it is opened, because opening may change the file.
  const found = inWords(database, () => markOf(database))
  if (found && witness?.damaged) throw damaged(database, 'the last albumd that used it found it damaged')
  const db = openDatabase(database)
  try {
    return inWords(database, () => {
      let opened: { files: string; changes: number } | null = null
      // SQLite's count of changes by others. Nobody else changes the records, so it shows an older copy that was written over
      // them.
      const changes = db.prepare<[], number>('PRAGMA data_version').pluck()
      const look = () => ({ files: identityOf(files), changes: changes.get()! })
      const check = () => {
        if (opened === null) return
        const now = look()
        if (now.changes !== opened.changes) refuseDamaged(db, database)
        else if (now.files === opened.files) return
        throw new StateError(
          'STATE_REPLACED',
          `${database}: State was replaced or removed while albumd worked with it, and what lies there now is used as an older copy. If another belongs there, stop albumd and put that one back`,
        )
      }
      const begun = () => {
        isBegun = true
        const mark = writeWitness(files.witness, {
          generation,
          closed: null,
          unsettled: false,
          damaged: false,
        })
        if (opened) opened = look()
        synced.commitNow(({ meta }) => meta.set('witness', seenAs({ generation, mark })))
      }
      const synced = open(db, { check, begun })
      let isBegun = false
      // An opening is counted first in the database and then in its witness: after a power cut only an older copy has the lower
      // count. A process that changes nothing is not counted, and leaves both as they were.
      const generation = Math.max(synced.meta.get('generation') ?? 0, witness?.generation ?? 0) + 1
      const verdict = replaced ? (found ? 'restored' : 'lost') : judge(rememberedBy(synced), found, witness)
      if (verdict === 'cut_off' || verdict === 'restored') refuseDamaged(db, database)
      const knowLess = knowsLess(verdict)
      synced.commitNow(({ meta }) => meta.set('generation', generation))
      if (knowLess) synced.commitNow(noteOlder)
      // After a crash nothing shows whether a person has put back an older copy since. So what albums hold is counted anew.
      else if (verdict === 'cut_off') synced.commitNow(tx => tx.contents.forget())
      // A migration has written the log.
      if (verdict !== 'clean' || markOf(`${database}-wal`)) synced.begin()
      if (SAID[verdict]) say(`${database}: ${SAID[verdict]}`)
      opened = look()
      return {
        synced,
        knowLess,
        lostWork: replaced || isWorkLost(verdict, witness),
        // When nothing was written, the witness still holds.
        close(end) {
          if (isBegun || end === 'damaged') close(files, synced, isBegun ? generation : generation - 1, end)
          else synced.close()
        },
      }
    })
  } catch (error) {
    db.close()
    throw error
  }
}

function knowsLess(verdict: Verdict): boolean {
  return verdict === 'lost' || verdict === 'restored'
}

function isWorkLost(verdict: Verdict, witness: Witness | null): boolean {
  return knowsLess(verdict) && witness !== null && (witness.closed === null || witness.unsettled)
}

function rememberedBy({ meta }: MetaReads): Remembered {
  return { generation: meta.get('generation'), witness: meta.get('witness') }
}

/** Whether the records are an older copy or new, and no audit has compared the albums since. `synced`: also a copy. */
export function areOlder(files: RecordFiles, synced: MetaReads): boolean {
  const { meta } = synced
  return isUnopened(files, synced) || (meta.get('restored') !== null && meta.get('audit_ended') === null)
}

/** Does to a copy of the records what the next opening would do to the records. */
export function noteOpening({ database, witness }: RecordFiles, copy: Synced): void {
  const found = readWitness(witness)
  const verdict = judge(rememberedBy(copy), markOf(database), found)
  const began = systemClock.monotonic()
  copy.commitNow(tx => {
    if (knowsLess(verdict)) noteOlder(tx)
    else if (verdict === 'cut_off') tx.contents.forget()
    if (isWorkLost(verdict, found)) noteLost(tx, began)
    noteBoot(tx, bootId(), began)
  })
}

/** A span of time (ISO 8601) in which nothing was recorded. `to`: null until an audit has compared the albums. */
export interface RecordsGap {
  from: string
  to: string | null
}

export function recordsGaps(files: RecordFiles, synced: MetaReads): RecordsGap[] {
  const gaps = isUnopened(files, synced) ? gapsFromNow(synced) : (synced.meta.get('records_gaps') ?? [])
  return gaps.map(({ from, to }) => ({ from: isoTime(from), to: isoTime(to) }))
}

/** Whether the records are an older copy that nobody has opened yet. They can't say so themselves. */
function isUnopened({ database, witness }: RecordFiles, synced: MetaReads): boolean {
  return judge(rememberedBy(synced), markOf(database), readWitness(witness)) === 'restored'
}

/** What identifies the records' files. Work does not change it. Without the lock file another albumd could start. */
function identityOf({ database, witness, lock }: RecordFiles): string {
  const mark = markOf(witness)
  const inodes = [database, lock].map(file => statSync(file, { throwIfNoEntry: false })?.ino)
  return `${inodes} ${mark?.ino} ${mark?.ctime}`
}

/** Closes the database, and writes its end into the witness. Without that, the next opening assumes a crash. */
function close({ database, witness }: RecordFiles, synced: Synced, generation: number, end: string): void {
  const unsettled = end !== 'clean' || synced.journal.oldestInDoubt() !== null
  synced.close()
  try {
    // When SQLite has left a write-ahead log, the log holds commits that the database's file lacks.
    const complete = end === 'clean' && markOf(`${database}-wal`) === null
    const closed = complete ? lastingMarkOf(database) : null
    if (closed || end === 'damaged')
      writeWitness(witness, { generation, closed, unsettled, damaged: end === 'damaged' })
  } catch {
    return
  }
}

function inWords<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw explained(error, file)
  }
}
