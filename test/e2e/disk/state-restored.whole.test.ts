import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import {
  ended,
  expectInSync,
  expectTheSame,
  oneLine,
  passUntilDone,
  runMidway,
  says,
  setLeapingStage,
  uploaded,
  writePictures,
} from '../stage/fault-stage.ts'
import type { Process } from '../stage/process.ts'

/** Stops the daemon between two transactions: what is copied in the middle of one is no older state, but a broken one. */
async function stopped(daemon: Process, state: string): Promise<void> {
  const db = new Database(join(state, 'albumd.db'))
  db.exec('BEGIN IMMEDIATE')
  daemon.kill('SIGSTOP')
  await expect.poll(() => readFileSync(`/proc/${daemon.pid}/stat`, 'utf8')).toMatch(/\) T /)
  db.close()
}

describe('a state that was restored', () => {
  it('is noticed before anything is sent, and nothing is sent again', async () => {
    const stage = await setLeapingStage()
    writePictures(stage, 0, 6)
    await passUntilDone(stage)
    const state = join(stage.home, 'state')
    execFileSync('cp', ['-a', state, `${state}-backup`])
    // Each album holds as many as the records of before say, but others.
    for (const n of [0, 1, 2]) rmSync(join(stage.pictures, `${n}/${n}.png`))
    writePictures(stage, 6, 9)
    await passUntilDone(stage)
    const before = await stage.listing()
    rmSync(state, { recursive: true })
    execFileSync('cp', ['-a', `${state}-backup`, state])
    const { code, err } = await stage.here('sync')
    expect(code).toBe(0)
    oneLine(err, /State was restored or changed by others; each album is compared/)
    await expectTheSame(stage, before)
    expect(await stage.here('sync')).toMatchObject({ code: 0, err: '' })
  })

  it('under a running daemon is noticed before the next picture is sent', async () => {
    const { stage, daemon } = await runMidway(6, 6)
    const state = join(stage.home, 'state')
    // It looks after what it has just sent by itself, and no copy of one moment could be made meanwhile.
    daemon.kill('SIGSTOP')
    cpSync(state, `${state}-old`, { recursive: true, preserveTimestamps: true })
    daemon.kill('SIGCONT')
    stage.write('later.png', png(30, 30).bytes)
    await uploaded(daemon, 7)
    daemon.kill('SIGSTOP')
    cpSync(`${state}-old`, state, { recursive: true, preserveTimestamps: true })
    daemon.kill('SIGCONT')
    stage.write('last.png', png(31, 31).bytes)
    // SQLite may meet the change before albumd does, as an error of the disk.
    await says(daemon, /replaced or removed|was restored or changed/)
    await expect.poll(async () => Object.keys(await stage.delivered()).length).toBe(8)
    await ended(daemon)
    // What was linked is compared once the host has acknowledged an upload to this state.
    stage.write('next.png', png(32, 32).bytes)
    await passUntilDone(stage)
    await stage.json('adopt', '--verify')
    await expectInSync(stage)
  })

  it('of which the witness stayed is noticed too', async () => {
    const { stage, daemon } = await runMidway(3)
    const state = join(stage.home, 'state')
    const copy = (from: string, to: string) => {
      for (const end of ['', '-wal', '-shm'])
        copyFileSync(join(from, `albumd.db${end}`), join(to, `albumd.db${end}`))
    }
    await stopped(daemon, state)
    mkdirSync(`${state}-old`)
    copy(state, `${state}-old`)
    daemon.kill('SIGCONT')
    stage.write('later.png', png(30, 30).bytes)
    await uploaded(daemon, 4)
    await stopped(daemon, state)
    // Into the files that the daemon has open: what it reads from now on is the older copy.
    copy(`${state}-old`, state)
    daemon.kill('SIGCONT')
    stage.write('last.png', png(31, 31).bytes)
    await says(daemon, /was replaced or removed/)
    await says(daemon, /was restored or changed/)
    await says(daemon, /put back while albumd worked.* wait until/)
    await expect.poll(async () => Object.keys(await stage.delivered()).length).toBe(5)
    await ended(daemon)
  })

  it('in a folder of its own is taken by the running daemon: it is seen, and does what it is asked', async () => {
    const { stage, daemon } = await runMidway(3)
    const state = join(stage.home, 'state')
    daemon.kill('SIGSTOP')
    renameSync(state, `${state}-old`)
    mkdirSync(state)
    for (const name of readdirSync(`${state}-old`))
      if (name.startsWith('albumd.')) copyFileSync(join(`${state}-old`, name), join(state, name))
    daemon.kill('SIGCONT')
    stage.write('later.png', png(30, 30).bytes)
    await says(daemon, /replaced or removed|was restored or changed/)
    // The picture itself may have gone before, in a pass that had begun on the folder of before.
    await says(daemon, /albumd works again/)
    await uploaded(daemon, 4)
    expect(await stage.status()).toMatchObject({ running: true })
    expect(await stage.here('sync')).toMatchObject({ code: 0 })
    expect(daemon.out()).toContain('"what":"sync"')
    await ended(daemon)
  })

  it('of which the lock alone is gone is taken again: no other albumd may begin beside the daemon', async () => {
    const { stage, daemon } = await runMidway(2, 2)
    // It looks after what it has just sent by itself, and would take the lock again before anybody looks.
    daemon.kill('SIGSTOP')
    rmSync(join(stage.home, 'state/lock.db'))
    expect(await stage.status()).toMatchObject({ running: false })
    daemon.kill('SIGCONT')
    stage.write('later.png', png(30, 30).bytes)
    await says(daemon, /albumd works again/)
    await uploaded(daemon, 3)
    expect(await stage.status()).toMatchObject({ running: true })
    expect(Object.keys(await stage.delivered())).toHaveLength(3)
    await ended(daemon)
    expect(await stage.here('sync')).toMatchObject({ code: 0, err: '' })
  })
})
