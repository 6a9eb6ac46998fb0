import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stateFiles } from '../../../src/daemon/state/claim.ts'
import { openRecords, type Records } from '../../../src/daemon/state/records.ts'
import { openDatabaseToRead } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { markOf, readWitness } from '../../../src/synced/witness.ts'
import { tempFolder } from '../../temp-folder.ts'

interface Place {
  folder: string
  files: ReturnType<typeof stateFiles>
  /** The lines for a person. */
  said: string[]
  open(): Records
  /** Opens the records, does something with them, and closes them. */
  use(work?: (records: Records) => void): void
  names(): string[]
}

function place(): Place {
  const folder = tempFolder()
  const files = stateFiles(folder)
  const said: string[] = []
  const open = () => openRecords(files, line => said.push(line))
  return {
    folder,
    files,
    said,
    open,
    use(work = () => {}) {
      const records = open()
      work(records)
      records.close('clean')
    },
    names: () => readdirSync(folder).sort(),
  }
}

/** A picture that a person wants sent again. */
const WANTED = { folder: 1, name: 'a.jpg' }

/** Records enough rows to give the database pages in its middle. */
function fill({ synced }: Records): void {
  const { id } = synced.commitNow(tx => tx.mirrors.add('/srv/photos', 'Photos'))
  for (let n = 0; n < 60; n++) synced.commitNow(tx => tx.folders.add(id, `${n}`.padEnd(1000, 'x')))
  synced.commitNow(tx => tx.contents.put(null, 3))
  synced.commitNow(tx => tx.resend.put(WANTED))
}

function filled(): Place {
  const at = place()
  at.use(fill)
  return at
}

/** A change that must last. */
function change({ synced }: Records): void {
  synced.commitNow(tx => tx.meta.set('upload_rate', (synced.meta.get('upload_rate') ?? 0) + 1))
}

/** Begins an upload, whose outcome is then in doubt. */
function begin({ synced }: Records): void {
  synced.commitNow(tx => tx.journal.openAlbumCreation({ parent: null, name: 'Photos', since: 1, sent_at: 1 }))
}

/** Opens and closes the records. Answers what was found. */
function look(at: Place) {
  const records = at.open()
  const { synced, knowLess } = records
  const row = synced.mirrors.of('/srv/photos')
  const folders = row ? synced.folders.ofMirror(row.id).length : 0
  const wanted = synced.resend.has(WANTED)
  const found = { known: synced.contents.unrecorded(null), folders, wanted, knowLess }
  records.close('clean')
  return found
}

const asTheyWere = { known: 3, folders: 60, wanted: true, knowLess: false }
const restored = { known: undefined, folders: 60, wanted: false, knowLess: true }
const anew = { known: undefined, folders: 0, wanted: false, knowLess: true }

describe('records', () => {
  it('are opened unchanged after a clean end or a change of their attributes, without a line', () => {
    const at = filled()
    for (const mode of [0o600, 0o600, 0o640]) {
      chmodSync(at.files.database, mode)
      expect(look(at)).toEqual(asTheyWere)
    }
    expect(at.said).toEqual([])
    expect(at.names()).toEqual(['albumd.db', 'albumd.witness'])
    expect(statSync(at.files.witness).mode & 0o777).toBe(0o600)
  })

  it('are opened unchanged after an end that was not clean', () => {
    const at = filled()
    killedWhile(at)
    killedWhile(at)
    expect(look(at)).toEqual({ ...asTheyWere, known: undefined })
    expect(at.said).toEqual([])
  })

  it('are left as they were, with their witness, by who changes nothing or is killed before the first change', () => {
    const at = filled()
    const marks = () => [at.files.database, at.files.witness].map(markOf)
    const before = marks()
    at.use(({ synced }) => {
      synced.commitNow(tx => tx.meta.set('pid', 1))
      expect(synced.meta.get('pid')).toBe(1)
    })
    killedWhile(at, "tx.meta.set('pid', 1)")
    expect(at.names()).toEqual(['albumd.db', 'albumd.db-shm', 'albumd.db-wal', 'albumd.witness'])
    at.use(({ synced }) => expect(synced.meta.get('pid')).toBeNull())
    expect(marks()).toEqual(before)
    expect(at.names()).toEqual(['albumd.db', 'albumd.witness'])
  })

  it('hold what was noted before the first change, once its promise resolves', async () => {
    const at = filled()
    const records = at.open()
    const { synced } = records
    synced.commitNow(tx => tx.meta.set('pid', 1))
    const other = openSynced(openDatabaseToRead(at.files.database))
    expect(other.meta.get('pid')).toBeNull()
    await synced.commit(tx => tx.meta.set('upload_rate', 1))
    const generation = synced.meta.get('generation')
    expect([other.meta.get('pid'), other.meta.get('generation')]).toEqual([1, generation])
    expect(readWitness(at.files.witness)).toMatchObject({ generation, closed: null })
    records.close('clean')
  })

  it('that are new are opened without a line', () => {
    const at = place()
    expect(look(at)).toEqual({ ...anew, knowLess: false })
    expect(at.said).toEqual([])
  })
})

describe('records that were restored', () => {
  const backup = (at: Place) => `${at.folder}-backup`
  const copy = (from: string, to: string) => {
    onTestFinished(() => rmSync(to, { recursive: true, force: true }))
    // With all times that can be set, as people copy a backup.
    execFileSync('cp', ['-a', from, to])
  }

  const replaceBy = (from: string, to: string) => {
    rmSync(to, { recursive: true })
    copy(from, to)
  }

  it.each<[string, 'database' | 'folder' | null, (at: Place) => void]>([
    ['are an old database restored', 'database', at => replaceBy(backup(at), at.files.database)],
    [
      'are an old database written over the current one',
      'database',
      at => copy(backup(at), at.files.database),
    ],
    ['are a state folder restored whole', 'folder', at => replaceBy(backup(at), at.folder)],
    [
      'are a state folder restored whole over the current one',
      'folder',
      at => execFileSync('cp', ['-a', `${backup(at)}/.`, at.folder]),
    ],
    [
      'are a state folder restored whole from a copy that was made while albumd ran',
      null,
      at => {
        const records = at.open()
        copy(at.folder, backup(at))
        records.close('clean')
        replaceBy(backup(at), at.folder)
      },
    ],
    [
      'were changed by others',
      null,
      at => {
        const db = new Database(at.files.database)
        db.exec(`UPDATE mirrors SET album = 'Other'`)
        db.close()
      },
    ],
    ['have lost their witness', null, at => rmSync(at.files.witness)],
    ['have an empty witness', null, at => writeFileSync(at.files.witness, '')],
  ])('%s: it is said once, and what albums hold and people wanted is not known', (_, saved, restore) => {
    const at = filled()
    if (saved) copy(saved === 'folder' ? at.folder : at.files.database, backup(at))
    if (saved) at.use(change)
    restore(at)
    expect(look(at)).toEqual(restored)
    expect(at.said).toEqual([expect.stringMatching(/albumd\.db: State was restored or changed by others/)])
    expect(look(at)).toMatchObject({ knowLess: false })
    expect(at.said).toHaveLength(1)
  })

  it.each([
    ['gone', (at: Place) => rmSync(at.files.database)],
    ['empty', (at: Place) => truncateSync(at.files.database, 0)],
  ])('whose database is %s are made anew, and a line says so', (_, lose) => {
    const at = filled()
    lose(at)
    expect(look(at)).toEqual(anew)
    expect(at.said).toEqual([expect.stringContaining('State is gone')])
  })
})

describe('records that are replaced while they are open', () => {
  it.each<[string, (files: Place['files'], from: string) => void]>([
    ['whole', (files, from) => execFileSync('cp', ['-a', `${from}/.`, dirname(files.database)])],
    [
      'but not their witness',
      ({ database }, from) => {
        for (const end of ['', '-wal', '-shm'])
          copyFileSync(join(from, basename(database) + end), database + end)
      },
    ],
    ['without their database', ({ database }) => rmSync(database)],
    ['without their witness', ({ witness }) => rmSync(witness)],
    ['without their lock', ({ lock }) => rmSync(lock)],
  ])('take no change any more, %s, and their end is no clean one', async (_, replace) => {
    const at = place()
    const old = tempFolder()
    writeFileSync(at.files.lock, '')
    at.use(fill)
    const { synced, close } = at.open()
    execFileSync('cp', ['-a', `${at.folder}/.`, old])
    await synced.commit(tx => tx.contents.put(null, 4))
    replace(at.files, old)
    const refused = {
      code: 'STATE_REPLACED',
      message: expect.stringMatching(/replaced or removed.*what lies there now is used/),
    }
    await expect(synced.commit(tx => tx.contents.put(null, 5))).rejects.toMatchObject(refused)
    expect(() => synced.commitNow(tx => tx.meta.clear('pid'))).toThrow(expect.objectContaining(refused))
    close('cut_off')
    expect(look(at).known).toBe(undefined)
  })

  it.each<[string, (at: Place) => void]>([
    ['a copy after a clean end', () => {}],
    ['nothing', ({ folder }) => execFileSync('find', [folder, '-mindepth', '1', '-delete'])],
  ])('may lack what this process has sent, when %s is in their place', (_, replace) => {
    const at = filled()
    replace(at)
    const records = openRecords(at.files, () => {}, { replaced: true })
    expect(records).toMatchObject({ knowLess: true, lostWork: true })
    records.close('clean')
  })
})

describe('damaged records', () => {
  const middle = (file: string) => Math.floor(statSync(file).size / 2 / 4096) * 4096
  const damages: [string, (file: string) => void][] = [
    [
      'overwritten in the middle',
      file => {
        const open = openSync(file, 'r+')
        writeSync(open, Buffer.alloc(8192, 0x5a), 0, 8192, middle(file))
      },
    ],
    ['cut short', file => truncateSync(file, middle(file))],
    ['cut short within their first page', file => truncateSync(file, 1000)],
    ['replaced by text', file => writeFileSync(file, 'these are no records\n'.repeat(1000))],
  ]

  it.each(damages)('that were %s are set aside and made anew, and a line says so', (_, damage) => {
    const at = filled()
    damage(at.files.database)
    const broken = readFileSync(at.files.database)
    expect(look(at)).toEqual(anew)
    expect(at.said).toEqual([expect.stringMatching(/damaged.*set aside as albumd\.db\.damaged-\d{4}-\S+Z;/)])
    const aside = at.names().find(name => name.includes('damaged'))!
    expect(readFileSync(join(at.folder, aside))).toEqual(broken)
    expect(look(at)).toMatchObject({ knowLess: false })
    expect(at.said).toHaveLength(1)
  })

  it.each(damages)(
    'that were %s after the process was killed are set aside with their write-ahead log, which new records never read',
    (_, damage) => {
      const at = filled()
      killedWhile(at)
      expect(existsSync(`${at.files.database}-wal`)).toBe(true)
      damage(at.files.database)
      expect(look(at)).toEqual(anew)
      expect(at.said).toHaveLength(1)
      expect(look(at)).toMatchObject({ folders: 0, knowLess: false })
    },
  )

  it('that are a mixture of two copies are set aside', () => {
    const at = filled()
    killedWhile(at)
    const db = new Database(at.files.database)
    db.pragma('foreign_keys = OFF')
    db.exec('DELETE FROM mirrors')
    db.close()
    expect(look(at)).toEqual(anew)
    expect(at.said).toEqual([expect.stringMatching(/damaged.*set aside/)])
  })

  it('that proved to be damaged during work are set aside by the next opening', () => {
    const at = filled()
    at.open().close('damaged')
    expect(look(at)).toEqual(anew)
    expect(at.said).toHaveLength(1)
  })

  it.each([
    ['was killed', (at: Place) => killedWhile(at), true],
    ['found them damaged', (at: Place) => at.open().close('damaged'), true],
    ['left an upload in doubt', (at: Place) => at.use(begin), true],
    ['had settled everything', (at: Place) => at.use(), false],
  ])('tell whether requests of the last process may still take effect, where it %s', (_, work, lostWork) => {
    const at = filled()
    work(at)
    rmSync(at.files.database)
    for (const log of ['-wal', '-shm']) rmSync(at.files.database + log, { force: true })
    const records = at.open()
    expect(records).toMatchObject({ knowLess: true, lostWork })
    records.close('clean')
  })

  it('are all kept when several are set aside', () => {
    const at = place()
    for (let n = 0; n < 3; n++) {
      at.use()
      writeFileSync(at.files.database, 'these are no records\n'.repeat(1000))
    }
    at.use()
    expect(at.names().filter(name => name.includes('damaged'))).toHaveLength(3)
  })
})

/** Leaves the records as SIGKILL does: the write-ahead log stays, and its process has ended. */
function killedWhile({ folder, files }: Place, change = "tx.meta.set('upload_rate', 1)"): void {
  const script = `
    import { openRecords } from ${JSON.stringify(import.meta.resolve('../../../src/daemon/state/records.ts'))}
    const { synced } = openRecords(${JSON.stringify(files)}, line => { throw new Error(line) })
    synced.commitNow(tx => ${change})
    process.kill(process.pid, 'SIGKILL')`
  try {
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: folder, stdio: 'pipe' })
  } catch (error) {
    if ((error as { signal?: string }).signal !== 'SIGKILL') throw error
  }
}
