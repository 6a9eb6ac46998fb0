import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { setAside } from '../../synced/damage.ts'
import { openDatabase } from '../../synced/database.ts'
import { refuseDamaged } from '../../synced/migrate.ts'
import { damaged, explained, StateError } from '../../synced/state-error.ts'
import { openSynced, type Synced } from '../../synced/synced.ts'
import {
  judge,
  lastingMarkOf,
  markOf,
  readWitness,
  seenAs,
  type Verdict,
  type Witness,
  writeWitness,
} from '../../synced/witness.ts'

/** Where a state's records and their witness are. */
export interface RecordFiles {
  database: string
  witness: string
}

/** The records, open for work by this process alone. */
export interface Records {
  synced: Synced
  /** They may know less than what was done: they are old, or made anew. */
  knowLess: boolean
  /** They know less, and what the process before had begun may still happen. */
  lostWork: boolean
  /** Whether their files are still those that were opened: somebody may put others in their place at any moment. */
  isInPlace(): boolean
  /** `clean`: they are as they ought to be. `damaged`: they proved not to be; the next opening sets them aside. */
  close(end: 'clean' | 'cut_off' | 'damaged'): void
}

/**
 * Opens the records, or makes them. Damaged ones are set aside, and what is lost or old is found out before anything is
 * sent; `say` tells a person, in a line. Throws StateError.
 */
export function openRecords(files: RecordFiles, say: (line: string) => void): Records {
  try {
    return openJudged(files, say)
  } catch (error) {
    if (!(error instanceof StateError && error.code === 'STATE_DAMAGED')) throw error
    const aside = inWords(files.database, () => setAside(files.database, Date.now()))
    say(
      `${files.database}: the state is damaged; it was set aside as ${basename(aside)}. ${MADE_ANEW} What waited to be deleted is forgotten, held or not`,
    )
    return openJudged(files, () => {})
  }
}

const MADE_ANEW = 'A new one is made: each album is compared with the host before anything is sent there.'

const SAID: Partial<Record<Verdict, string>> = {
  lost: `the state is gone. ${MADE_ANEW}`,
  restored:
    'the state was restored or changed by others; each album is compared with the host before anything is sent there; "albumd audit" finds what was deleted there since',
}

function openJudged(files: RecordFiles, say: (line: string) => void): Records {
  const { database } = files
  const witness = inWords(files.witness, () => readWitness(files.witness))
  // Before it is opened: that alone may change it.
  const found = inWords(database, () => markOf(database))
  if (found && witness?.damaged) throw damaged(database, 'the last one to use it found it so')
  const db = openDatabase(database)
  try {
    return inWords(database, () => {
      const synced = openSynced(db)
      const verdict = judge(remembered(synced), found, witness)
      if (verdict === 'cut_off' || verdict === 'restored') refuseDamaged(db, database)
      const knowLess = verdict === 'lost' || verdict === 'restored'
      // After a cut-off end another database of the same generation may lie here.
      if (knowLess || verdict === 'cut_off') synced.commitNow(tx => tx.contents.forget())
      const generation = begin(files, synced, witness, knowLess)
      if (SAID[verdict]) say(`${database}: ${SAID[verdict]}`)
      const opened = standing(files)
      return {
        synced,
        knowLess,
        lostWork: knowLess && witness !== null && (witness.closed === null || witness.unsettled),
        isInPlace: () => standing(files) === opened,
        close: end => close(files, synced, generation, end),
      }
    })
  } catch (error) {
    db.close()
    throw error
  }
}

function remembered({ meta }: Synced) {
  const generation = meta.get('generation')
  return { generation: generation === null ? null : Number(generation), witness: meta.get('witness') }
}

/**
 * One more generation. The database comes first: where the power goes between the two, it is ahead of its witness, as
 * no old one can be.
 */
function begin(files: RecordFiles, synced: Synced, witness: Witness | null, knowLess: boolean): number {
  const generation = Math.max(remembered(synced).generation ?? 0, witness?.generation ?? 0) + 1
  synced.commitNow(({ meta }) => {
    meta.set('generation', String(generation))
    if (!knowLess) return
    meta.set('restored', '1')
    // What was deleted since is recorded as if it were there: only an audit finds that.
    meta.set('audit_slot', '0')
  })
  const mark = writeWitness(files.witness, { generation, closed: null, unsettled: false, damaged: false })
  synced.commitNow(({ meta }) => meta.set('witness', seenAs({ generation, mark })))
  return generation
}

/** What tells these files from others. Work changes the database's size and times, but not its inode. */
function standing({ database, witness }: RecordFiles): string {
  const mark = markOf(witness)
  const stats = statSync(database, { throwIfNoEntry: false })
  return `${stats?.ino} ${mark?.ino} ${mark?.ctime}`
}

/** Where the witness can't be written, the next opening takes it for an end that was not clean. */
function close({ database, witness }: RecordFiles, synced: Synced, generation: number, end: string): void {
  const unsettled = end !== 'clean' || synced.journal.oldestInDoubt() !== null
  synced.close()
  try {
    // A log that is left holds commits; the database alone is not all then.
    const whole = end === 'clean' && markOf(`${database}-wal`) === null
    const closed = whole ? lastingMarkOf(database) : null
    if (closed || end === 'damaged')
      writeWitness(witness, { generation, closed, unsettled, damaged: end === 'damaged' })
  } catch {
    return
  }
}

/** Errors of SQLite and of the file system come out as StateError. */
function inWords<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw explained(error, file)
  }
}
