import { execFileSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { png } from '../pictures.ts'
import {
  expectInSync,
  type FaultStage,
  localTree,
  type Process,
  setFaultStage,
  startAlbumd,
  syncUntilDone,
} from './fault-stage.ts'
import { canMount, mountSmallDisk, stageThrough } from './small-disk.ts'
import type { Stage } from './stage.ts'

/** Slow enough that something can happen in the middle. */
const SLOWLY = { requests_per_second: { upload: 10, list: 500, delete: 500, create_album: 500 } }

function writePictures(stage: Stage, from: number, to: number): void {
  for (let n = from; n < to; n++) stage.write(`${n % 3}/${n}.png`, png(2 + n, 2).bytes)
}

async function stageOf(pictures: number): Promise<FaultStage> {
  const stage = await setFaultStage({ access: SLOWLY })
  writePictures(stage, 0, pictures)
  return stage
}

const within = { timeout: 45_000 }
const uploads = (process: Process) => process.out().match(/picture_uploaded|^uploaded /gm)?.length ?? 0
const uploaded = (process: Process, atLeast: number) =>
  expect.poll(() => uploads(process), within).toBeGreaterThanOrEqual(atLeast)
const says = (process: Process, what: RegExp) => expect.poll(process.out, within).toMatch(what)
const times = (process: Process, what: string) => process.out().split(what).length - 1

/** One line for a person: nothing of a stack. */
function oneLine(text: string, what: RegExp): void {
  expect(text.trimEnd().split('\n')).toHaveLength(1)
  expect(text).toMatch(/^albumd: /)
  expect(text).toMatch(what)
}

async function ended(daemon: Process): Promise<void> {
  daemon.kill('SIGTERM')
  expect(await daemon.ended).toEqual({ code: 0, signal: null })
  expect(daemon.err()).toBe('')
}

describe.skipIf(!canMount() && !process.env.CI)('a state whose disk is full', () => {
  async function onSmallDisk(pictures: number) {
    const plain = await stageOf(pictures)
    const disk = await mountSmallDisk(join(plain.home, 'state'), '8m')
    return { disk, stage: stageThrough(plain, disk) }
  }

  it('ends a sync with what to do, and the next one goes on once there is room', async () => {
    const { disk, stage } = await onSmallDisk(30)
    const sync = startAlbumd(stage, ['sync'], disk)
    await uploaded(sync, 3)
    disk.fill()
    expect(await sync.ended).toMatchObject({ code: 1 })
    oneLine(
      sync.err(),
      /state\/albumd\.db: no room is left on the disk that holds the state .*; make room there/,
    )
    expect(await stage.sync()).toMatchObject({ code: 1 })
    disk.free()
    for (const { err } of await syncUntilDone(stage)) expect(err).not.toContain('restored')
    await expectInSync(stage)
  })

  it('ends a sync that has nothing yet the same way', async () => {
    const { disk, stage } = await onSmallDisk(2)
    disk.fill()
    const { code, err } = await stage.sync()
    expect(code).toBe(1)
    oneLine(err, /no room is left/)
    expect(await stage.listing()).toEqual([])
    disk.free()
    await syncUntilDone(stage)
    await expectInSync(stage)
  })

  it('lets the daemon wait, say it once, and go on by itself', async () => {
    const { disk, stage } = await onSmallDisk(30)
    const daemon = startAlbumd(stage, ['run'], disk)
    await uploaded(daemon, 3)
    disk.fill()
    await says(daemon, /no room is left/)
    writePictures(stage, 30, 33)
    expect(await stage.json('status')).toMatchObject({
      running: true,
      pid: expect.any(Number),
      mirrors: [{ state: 'blocked', reason: expect.stringContaining('no room is left') }],
    })
    disk.free()
    await says(daemon, /works again/)
    await expect.poll(() => stage.delivered(), within).toEqual(localTree(stage))
    expect((await stage.json('status')).mirrors).toMatchObject([{ reason: null }])
    expect(times(daemon, 'no room is left')).toBe(1)
    await ended(daemon)
    // It may have ended while it compared files that were fresh.
    await syncUntilDone(stage)
    await expectInSync(stage)
  })

  it('does not keep the daemon from starting: it begins once there is room', async () => {
    const { disk, stage } = await onSmallDisk(2)
    disk.fill()
    const daemon = startAlbumd(stage, ['run'], disk)
    await says(daemon, /no room is left/)
    expect(await stage.listing()).toEqual([])
    disk.free()
    await expect.poll(() => stage.delivered(), within).toEqual(localTree(stage))
    await ended(daemon)
    // It may have ended while it compared files that were fresh.
    await syncUntilDone(stage)
    await expectInSync(stage)
  })

  it('lets the daemon end while it waits', async () => {
    const { disk, stage } = await onSmallDisk(2)
    disk.fill()
    const daemon = startAlbumd(stage, ['run'], disk)
    await says(daemon, /no room is left/)
    await ended(daemon)
  })
})

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

/** The name of what was set aside. */
const setAside = (stage: Stage) =>
  readdirSync(join(stage.home, 'state')).filter(
    name => /^albumd\.db\.damaged-\d/.test(name) && !/-wal|-shm/.test(name),
  )

/** After the records were made anew: nothing was sent again, and nothing went. */
async function expectTheSame(stage: Stage, before: string[]): Promise<void> {
  expect(await stage.listing()).toEqual(before)
  expect(await stage.delivered()).toEqual(localTree(stage))
  expect((await stage.json('status')).mirrors).toMatchObject([
    { pending_uploads: 0, pending_deletions: 0, failed: 0, uncertain: 0 },
  ])
}

describe('a damaged state', () => {
  const damages: [string, (file: string) => void][] = [
    [
      'overwritten in the middle',
      file => {
        const open = openSync(file, 'r+')
        writeSync(
          open,
          Buffer.alloc(3 * 4096, 0x5a),
          0,
          3 * 4096,
          Math.floor(statSync(file).size / 8192) * 4096,
        )
        closeSync(open)
      },
    ],
    ['cut short', file => truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096)],
    ['replaced by text', file => writeFileSync(file, 'these are no records\n'.repeat(1000))],
  ]

  it.each(damages)(
    'that was %s is shown, set aside, and made anew without sending anything again',
    async (_, damage) => {
      const stage = await setFaultStage()
      writePictures(stage, 0, 12)
      await syncUntilDone(stage)
      const before = await stage.listing()
      damage(join(stage.home, 'state/albumd.db'))
      const status = await stage.albumd('status', '--config', stage.config)
      expect(status.code).toBe(1)
      oneLine(status.err, /state\/albumd\.db: the state is damaged .*the next sync or run sets it aside/)
      expect(setAside(stage)).toEqual([])
      const sync = await stage.sync()
      expect(sync.code).toBe(0)
      oneLine(sync.err, /the state is damaged; it was set aside as albumd\.db\.damaged-/)
      expect(setAside(stage)).toHaveLength(1)
      await expectTheSame(stage, before)
    },
  )

  /** Damage that shows at the next statement. */
  function damageWhileRunning(stage: Stage): void {
    const db = new Database(join(stage.home, 'state/albumd.db'))
    db.unsafeMode(true)
    db.pragma('writable_schema = ON')
    db.exec(`UPDATE sqlite_schema SET rootpage = 999999 WHERE name = 'files'`)
    const version = db.pragma('schema_version', { simple: true }) as number
    db.pragma(`schema_version = ${version + 1}`)
    db.close()
  }

  it('that shows during a sync ends it, and the next one makes it anew', async () => {
    const stage = await stageOf(30)
    const sync = startAlbumd(stage, ['sync'])
    await uploaded(sync, 3)
    damageWhileRunning(stage)
    expect(await sync.ended).toMatchObject({ code: 1 })
    oneLine(sync.err(), /the state is damaged/)
    expect(setAside(stage)).toEqual([])
    await syncUntilDone(stage)
    expect(setAside(stage)).toHaveLength(1)
    expect(await stage.delivered()).toEqual(localTree(stage))
  })

  it('that shows while the daemon runs is set aside, and the daemon goes on', async () => {
    const stage = await stageOf(30)
    const daemon = startAlbumd(stage, ['run'])
    await uploaded(daemon, 3)
    damageWhileRunning(stage)
    await says(daemon, /set aside as albumd\.db\.damaged-/)
    await expect.poll(() => stage.delivered(), within).toEqual(localTree(stage))
    await says(daemon, /works again/)
    await ended(daemon)
    expect(setAside(stage)).toHaveLength(1)
  })
})

describe('a state that was restored', () => {
  it('is noticed before anything is sent, and nothing is sent again', async () => {
    const stage = await setFaultStage()
    writePictures(stage, 0, 6)
    await syncUntilDone(stage)
    const state = join(stage.home, 'state')
    execFileSync('cp', ['-a', state, `${state}-backup`])
    // Each album holds as many as the records of before say, but others.
    for (const n of [0, 1, 2]) rmSync(join(stage.pictures, `${n}/${n}.png`))
    writePictures(stage, 6, 9)
    await syncUntilDone(stage)
    const before = await stage.listing()
    rmSync(state, { recursive: true })
    execFileSync('cp', ['-a', `${state}-backup`, state])
    const { code, err } = await stage.sync()
    expect(code).toBe(0)
    oneLine(err, /the state was restored or changed by others; each album is compared/)
    await expectTheSame(stage, before)
    expect(await stage.sync()).toMatchObject({ code: 0, err: '' })
  })

  it('under a running daemon is noticed before the next picture is sent', async () => {
    const stage = await stageOf(6)
    const daemon = startAlbumd(stage, ['run'])
    await uploaded(daemon, 6)
    const state = join(stage.home, 'state')
    cpSync(state, `${state}-old`, { recursive: true, preserveTimestamps: true })
    stage.write('later.png', png(30, 30).bytes)
    await uploaded(daemon, 7)
    cpSync(`${state}-old`, state, { recursive: true, preserveTimestamps: true })
    stage.write('last.png', png(31, 31).bytes)
    await says(daemon, /replaced or removed/)
    await expect.poll(async () => Object.keys(await stage.delivered()).length, within).toBe(8)
    await ended(daemon)
    await syncUntilDone(stage)
    await expectInSync(stage)
  })

  it('is none where the process was killed', async () => {
    const stage = await stageOf(20)
    const sync = startAlbumd(stage, ['sync'])
    await uploaded(sync, 3)
    sync.kill('SIGKILL')
    await sync.ended
    for (const { err } of await syncUntilDone(stage)) expect(err).toBe('')
    await expectInSync(stage)
  })
})
