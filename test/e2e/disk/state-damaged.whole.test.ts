import { closeSync, openSync, readdirSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import {
  ended,
  expectTheSame,
  localTree,
  oneLine,
  runMidway,
  says,
  setLeapingStage,
  syncMidway,
  syncUntilDone,
  writePictures,
} from '../stage/fault-stage.ts'
import type { Stage } from '../stage/stage.ts'

/** The name of what was set aside. */
const setAside = (stage: Stage) =>
  readdirSync(join(stage.home, 'state')).filter(
    name => /^albumd\.db\.damaged-\d/.test(name) && !/-wal|-shm/.test(name),
  )

describe('a damaged state', () => {
  const damages: [string, (file: string) => void][] = [
    [
      'overwritten in the middle',
      file => {
        const page = pageOfFolders(file)
        const open = openSync(file, 'r+')
        writeSync(open, Buffer.alloc(4096, 0x5a), 0, 4096, page * 4096)
        closeSync(open)
      },
    ],
    ['cut short', file => truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096)],
    ['replaced by text', file => writeFileSync(file, 'these are no records\n'.repeat(1000))],
  ]

  it.each(damages)(
    'that was %s is shown, set aside, and made anew without sending anything again',
    async (_, damage) => {
      const stage = await setLeapingStage()
      writePictures(stage, 0, 12)
      await syncUntilDone(stage)
      const before = await stage.listing()
      damage(join(stage.home, 'state/albumd.db'))
      const status = await stage.here('status', '--config', stage.config)
      expect(status.code).toBe(1)
      oneLine(
        status.err,
        /state\/albumd\.db: State is damaged .*The next sync or run makes a new one from what the host lists/,
      )
      expect(setAside(stage)).toEqual([])
      const sync = await stage.here('sync')
      expect(sync.code).toBe(0)
      oneLine(sync.err, /State is damaged, and set aside as albumd\.db\.damaged-/)
      expect(setAside(stage)).toHaveLength(1)
      await expectTheSame(stage, before)
    },
  )

  /** The page, counted from 0, on which the records of folders begin: every command reads them. */
  function pageOfFolders(file: string): number {
    const db = new Database(file, { readonly: true })
    const page = db
      .prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'folders'`)
      .pluck()
      .get() as number
    db.close()
    return page - 1
  }

  /** Damage that shows at the next statement. Between two transactions, a changed state would not be a damaged one yet. */
  function damageWhileRunning(stage: Stage): void {
    const db = new Database(join(stage.home, 'state/albumd.db'))
    db.unsafeMode(true)
    db.pragma('writable_schema = ON')
    const damage = db.transaction(() => {
      db.exec(`UPDATE sqlite_schema SET rootpage = 999999 WHERE name = 'files'`)
      const version = db.pragma('schema_version', { simple: true }) as number
      db.pragma(`schema_version = ${version + 1}`)
    })
    damage.immediate()
    db.close()
  }

  it('that shows during a sync ends it, and the next one makes it anew', async () => {
    const { stage, sync } = await syncMidway(30)
    damageWhileRunning(stage)
    expect(await sync.ended).toMatchObject({ code: 1 })
    oneLine(sync.err(), /State is damaged/)
    expect(setAside(stage)).toEqual([])
    await syncUntilDone(stage)
    expect(setAside(stage)).toHaveLength(1)
    expect(await stage.delivered()).toEqual(localTree(stage))
  })

  it('that shows while the daemon runs is set aside, and the daemon goes on', async () => {
    const { stage, daemon } = await runMidway(30)
    damageWhileRunning(stage)
    await says(daemon, /set aside as albumd\.db\.damaged-/)
    await expect.poll(() => stage.delivered(), { interval: 500 }).toEqual(localTree(stage))
    await says(daemon, /works again/)
    await ended(daemon)
    expect(setAside(stage)).toHaveLength(1)
  })
})
