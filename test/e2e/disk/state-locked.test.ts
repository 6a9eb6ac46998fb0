import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  ended,
  expectInSync,
  localTree,
  oneLine,
  says,
  stageOf,
  syncUntilDone,
  uploaded,
  within,
} from '../stage/fault-stage.ts'
import { startAlbumd } from '../stage/process.ts'
import type { Stage } from '../stage/stage.ts'

describe('a state that another program keeps locked', () => {
  function lock(stage: Stage): () => void {
    const db = new Database(join(stage.home, 'state/albumd.db'))
    onTestFinished(() => void db.close())
    db.exec('BEGIN IMMEDIATE')
    return () => void db.close()
  }

  it('ends a sync with what to do, and the next one goes on', async () => {
    const stage = await stageOf(30)
    const sync = startAlbumd(stage, ['sync'])
    await uploaded(sync, 3)
    const release = lock(stage)
    expect(await sync.ended).toMatchObject({ code: 1 })
    oneLine(sync.err(), /state\/albumd\.db: another program keeps the state locked/)
    release()
    await syncUntilDone(stage)
    await expectInSync(stage)
  })

  it('lets the daemon wait, and go on by itself', async () => {
    const stage = await stageOf(30)
    const daemon = startAlbumd(stage, ['run'])
    await uploaded(daemon, 3)
    const release = lock(stage)
    await says(daemon, /another program keeps the state locked/)
    expect(await stage.json('status')).toMatchObject({ running: true })
    release()
    await expect.poll(() => stage.delivered(), within).toEqual(localTree(stage))
    await says(daemon, /works again/)
    await ended(daemon)
    // It may have ended while it compared files that were fresh.
    await syncUntilDone(stage)
    await expectInSync(stage)
  })
})
