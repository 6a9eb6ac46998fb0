import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  endedInSync,
  expectInSync,
  localTree,
  oneLine,
  runMidway,
  says,
  syncMidway,
  syncUntilDone,
} from '../stage/fault-stage.ts'
import type { Stage } from '../stage/stage.ts'

describe('a state that another program keeps locked', () => {
  function lock(stage: Stage): () => void {
    const db = new Database(join(stage.home, 'state/albumd.db'))
    onTestFinished(() => void db.close())
    db.exec('BEGIN IMMEDIATE')
    return () => void db.close()
  }

  it('ends a sync with what to do, and the next one goes on', async () => {
    const { stage, sync } = await syncMidway(30)
    const release = lock(stage)
    expect(await sync.ended).toMatchObject({ code: 1 })
    oneLine(sync.err(), /state\/albumd\.db: Another program keeps the state locked/)
    release()
    await syncUntilDone(stage)
    await expectInSync(stage)
  })

  it('lets the daemon wait, and go on by itself', async () => {
    const { stage, daemon } = await runMidway(30)
    const release = lock(stage)
    await says(daemon, /Another program keeps the state locked/)
    expect(await stage.json('status')).toMatchObject({ running: true })
    release()
    await expect.poll(() => stage.delivered(), { interval: 500 }).toEqual(localTree(stage))
    await says(daemon, /works again/)
    await endedInSync(daemon, stage)
  })
})
