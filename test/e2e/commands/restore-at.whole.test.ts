import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stateFiles } from '../../../src/daemon/state/claim.ts'
import { realDisk } from '../../../src/local/disk.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { type Recorded, recordPictures } from '../../daemon/recorded-pictures.ts'
import { asNobody } from '../../nobody.ts'
import { makeFailingDisk } from '../disk/failing-disk.ts'
import { bindReadOnly, canMount } from '../disk/small-disk.ts'
import { startAlbumd } from '../stage/process.ts'
import { runHere } from '../stage/stage.ts'

/** A time at which all recorded pictures were there, and one before the first of them. */
const THEN = '2024-01-01T00:00:00Z'
const BEFORE = '2020-01-01T00:00:00Z'

const run = ({ home, configFile }: Recorded, folder: string, ...more: string[]) =>
  runHere(['restore', folder, '--config', configFile, ...more], home)

/** The same as a process of its own. */
async function runApart(recorded: Recorded, folder: string, how: Parameters<typeof startAlbumd>[2]) {
  const args = ['restore', folder, '--at', THEN]
  const child = startAlbumd({ home: recorded.home, config: recorded.configFile }, args, how)
  const { code } = await child.ended
  return { code, out: child.out(), err: child.err() }
}

const mirrorOf = ({ config }: Recorded) => config.mirrors[0]!.folder

/** The names that came or went in a folder meanwhile, each as often as it did. */
async function renamesIn(folder: string, act: () => Promise<void>): Promise<(string | null)[]> {
  const names: (string | null)[] = []
  const watcher = watch(folder, (event, name) => void (event === 'rename' && names.push(name)))
  const isTold = async (name: string) => {
    writeFileSync(join(folder, name), '')
    await expect.poll(() => names).toContain(name)
    rmSync(join(folder, name))
  }
  try {
    await isTold('begun')
    await act()
    await isTold('ended')
  } finally {
    watcher.close()
  }
  return names
}

/** Records that a picture was at this path before the others came, and that the host has given it up. */
function recordGivenUp({ config }: Recorded, path: string): void {
  const hash = createHash('sha256').update(path).digest()
  const since = Date.parse('2022-01-01')
  const db = openDatabase(stateFiles(config.state_dir).database)
  openSynced(db).commitNow(tx => {
    tx.versions.add({ mirror: 1, path, since, until: Date.parse('2025-01-01'), hash, size: 9, mtime: null })
    tx.versions.hold({ hash, given_up: 1 })
  })
  db.close()
}

/** The last scan has found a disk mounted at a folder. */
function recordMount({ config }: Recorded, path: string, identity = { dev: 1, ino: 1, birthtime: 1 }): void {
  const db = openDatabase(stateFiles(config.state_dir).database)
  openSynced(db).commitNow(tx => {
    const folder = tx.folders.add(1, path)
    const leftOut = { format: 0, ignored: 0, hidden: 0, empty: 0, links: 0 }
    tx.folders.looked(folder.id, null, null, { files: [], leftOut, mount: true, identity })
  })
  db.close()
}

describe('restore --at', () => {
  it('does not say "as it was" while pictures are not tried', async () => {
    const recorded = await recordPictures(
      ['a', 'b', 'c', 'd'].map(name => ({ path: `${name}.png`, bytes: name })),
      { config: { uploads: { concurrency: 1 } } },
    )
    const back = join(recorded.home, 'back')
    recorded.answers.set('b.png', (response, bytes) => {
      rmSync(back, { recursive: true })
      response.end(bytes)
    })
    const { code, out } = await run(recorded, back, '--at', THEN)
    expect(code).toBe(3)
    expect(out).toMatch(/^not yet as it was at .*: 3 pictures not tried$/m)
    expect(out).not.toMatch(/^as it was/m)
  })

  it('names a wrong folder whatever the time is, and writes nothing into it', async () => {
    const recorded = await recordPictures([{ path: 'a.png', bytes: 'a' }])
    const full = join(recorded.home, 'full')
    mkdirSync(full)
    writeFileSync(join(full, 'notes.txt'), '')
    symlinkSync('nowhere', join(full, 'link'))
    for (const [folder, why] of [
      [join(full, 'link'), 'is not a folder'],
      [full, 'is not empty'],
      [join(full, 'notes.txt'), 'is not a folder'],
      [recorded.home, 'holds the mirror'],
      [recorded.config.state_dir, 'lies in state_dir'],
    ] as const)
      for (const time of [THEN, BEFORE])
        expect(await run(recorded, folder, '--at', time)).toMatchObject({
          code: 2,
          err: expect.stringContaining(why),
        })
    const back = join(recorded.home, 'back')
    expect(await run(recorded, back, '--at', BEFORE)).toMatchObject({
      code: 2,
      err: expect.stringContaining('The records begin at'),
    })
    expect(existsSync(back)).toBe(false)
  })

  it('refuses in a line a folder that it may not read', async () => {
    await asNobody(async () => {
      const recorded = await recordPictures([{ path: 'a.png', bytes: 'a' }])
      const closed = join(recorded.home, 'closed')
      mkdirSync(closed, { mode: 0 })
      expect(await run(recorded, closed, '--at', THEN)).toMatchObject({
        code: 2,
        err: expect.stringContaining('EACCES'),
      })
    })
  })

  it('refuses a folder in a mirror that had no picture then, whether it is there or not', async () => {
    const recorded = await recordPictures([{ path: 'a/a.png', bytes: 'a' }])
    const there = join(mirrorOf(recorded), 'there')
    mkdirSync(there)
    for (const folder of [there, join(mirrorOf(recorded), 'missing')])
      expect(await run(recorded, folder, '--at', THEN)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringMatching(
          /lies in the mirror .* had no picture then\. Name another folder or time\n$/,
        ),
      })
    expect(await run(recorded, join(mirrorOf(recorded), 'a'), '--at', THEN)).toMatchObject({ code: 0 })
  })

  it('ends where the host has given up all that is missing', async () => {
    const recorded = await recordPictures([{ path: 'a.png', bytes: 'a' }])
    recordGivenUp(recorded, 'old.png')
    const back = join(recorded.home, 'back')
    const { code, out } = await run(recorded, back, '--at', THEN)
    expect(code).toBe(3)
    expect(out).toContain('\nmissing old.png: no longer on the host (NOT_FOUND)\n')
    expect(existsSync(join(back, 'a.png'))).toBe(true)
    expect(existsSync(join(back, '.albumd-restore'))).toBe(false)
    const status = await runHere(['status', '--json', '--config', recorded.configFile], recorded.home)
    expect(JSON.parse(status.out)).toMatchObject({
      restorable_since: '2025-01-01T00:00:00.000Z',
      restorable_in_part_since: '2022-01-01T00:00:00.000Z',
    })
  })

  it('goes on with the moment of the first run, and says so', async () => {
    const recorded = await recordPictures(['a', 'b'].map(name => ({ path: `${name}.png`, bytes: name })))
    recorded.answers.set('a.png', response => void response.writeHead(403).end())
    const back = join(recorded.home, 'back')
    const first = await run(recorded, back, '--at', '1d')
    expect(first).toMatchObject({ code: 3, out: expect.not.stringContaining('goes on with') })
    const moment = /^as it was at (.*), except/m.exec(first.out)![1]!
    recorded.answers.delete('a.png')
    const second = await run(recorded, back, '--at', '1d', '--quiet')
    expect(second).toMatchObject({ code: 0, out: '' })
    expect(second.err).toContain(`goes on with the moment of ${moment}`)
    expect(second.err).toContain('; name another folder to begin anew\n')
  })

  it('begins anew in a mirror for another time, which it names, and removes nothing before', async () => {
    const recorded = await recordPictures(['a', 'b'].map(name => ({ path: `${name}.png`, bytes: name })))
    const mirror = mirrorOf(recorded)
    const restore = async (at = '1d') => {
      const { code, out, err } = await run(recorded, mirror, '--at', at, '--json')
      return { code, err, went_on: JSON.parse(out).went_on }
    }
    recorded.answers.set('a.png', response => {
      process.kill(process.pid, 'SIGINT')
      response.destroy()
    })
    expect(await restore()).toMatchObject({ code: 3, went_on: false })
    const { code, err, went_on } = await restore()
    expect({ code, went_on }).toEqual({ code: 3, went_on: true })
    const [, another] = /; say --at (\S+) to begin anew\n/.exec(err)!
    recorded.answers.delete('a.png')
    expect(existsSync(join(mirror, '.albumd-restore'))).toBe(true)
    expect(await restore(another)).toEqual({ code: 0, err: '', went_on: false })
    expect(existsSync(join(mirror, '.albumd-restore'))).toBe(false)
  })

  it('keeps what it replaces, and leaves no path empty meanwhile', async () => {
    const long = `${'n'.repeat(250)}.png`
    const recorded = await recordPictures([
      { path: 'a.png', bytes: 'a' },
      { path: long, bytes: 'b' },
    ])
    const mirror = mirrorOf(recorded)
    const aside = join(mirror, '.albumd-replaced')
    for (const [now, kept] of [
      ['now', ['a.png', long]],
      ['later', ['2 a.png', `2 ${'n'.repeat(249)}.png`]],
    ] as const) {
      for (const name of ['a.png', long]) writeFileSync(join(mirror, name), now)
      const names = await renamesIn(mirror, async () => {
        expect(await run(recorded, mirror, '--at', THEN)).toMatchObject({ code: 0 })
      })
      // A name that went is told of too.
      expect(names.filter(name => name === 'a.png' || name === long).sort()).toEqual(['a.png', long])
      for (const name of kept) expect(readFileSync(join(aside, name), 'utf8')).toBe(now)
    }
  })

  it('copies what it replaces where it may give no second name, and leaves no path empty', async () => {
    const recorded = await asNobody(() => recordPictures([{ path: 'a.png', bytes: 'a' }]))
    const mirror = mirrorOf(recorded)
    // Linux denies a second name to a file that another owner may only read (fs.protected_hardlinks).
    rmSync(join(mirror, 'a.png'), { force: true })
    writeFileSync(join(mirror, 'a.png'), "another owner's")
    utimesSync(join(mirror, 'a.png'), 5, 5)
    const names = await renamesIn(mirror, async () => {
      expect(await asNobody(() => run(recorded, mirror, '--at', THEN))).toMatchObject({ code: 0 })
    })
    expect(names.filter(name => name === 'a.png')).toEqual(['a.png'])
    expect(readFileSync(join(mirror, 'a.png'), 'utf8')).toBe('a')
    const aside = join(mirror, '.albumd-replaced')
    expect(readdirSync(aside)).toEqual(['a.png'])
    expect(readFileSync(join(aside, 'a.png'), 'utf8')).toBe("another owner's")
    expect(statSync(join(aside, 'a.png')).mtimeMs).toBe(5000)
  })

  const isRoot = process.getuid?.() === 0
  it.skipIf(!isRoot && !process.env.CI)(
    'puts nothing aside that stays, for only its owner may replace it there',
    async () => {
      const recorded = await asNobody(() => recordPictures([{ path: 'a.png', bytes: 'a' }]))
      const mirror = mirrorOf(recorded)
      rmSync(join(mirror, 'a.png'), { force: true })
      writeFileSync(join(mirror, 'a.png'), "another owner's")
      chownSync(mirror, 0, 0)
      chmodSync(mirror, 0o1777)
      for (const _ of [1, 2])
        expect(await asNobody(() => run(recorded, mirror, '--at', THEN))).toMatchObject({
          code: 3,
          out: expect.stringContaining(`missing a.png: ${join(mirror, 'a.png')} can't be written. Check it`),
        })
      expect(readdirSync(join(mirror, '.albumd-replaced'))).toEqual([])
      expect(readFileSync(join(mirror, 'a.png'), 'utf8')).toBe("another owner's")
    },
  )

  it.skipIf(!isRoot && !process.env.CI)(
    'takes a picture for there whose time only its owner may set',
    async () => {
      const recorded = await asNobody(() => recordPictures([{ path: 'a.png', bytes: 'a' }]))
      const picture = join(mirrorOf(recorded), 'a.png')
      rmSync(picture, { force: true })
      writeFileSync(picture, 'a')
      utimesSync(picture, 5, 5)
      expect(await asNobody(() => run(recorded, mirrorOf(recorded), '--at', THEN))).toMatchObject({ code: 0 })
      expect(statSync(picture).mtimeMs).toBe(5000)
    },
  )

  it('follows no link, neither for what it puts aside nor out of the mirror', async () => {
    const recorded = await recordPictures([{ path: 't/a.png', bytes: 'a' }])
    const mirror = mirrorOf(recorded)
    const outside = join(recorded.home, 'outside')
    mkdirSync(outside)
    mkdirSync(mirror, { recursive: true })
    symlinkSync(recorded.home, join(recorded.home, 'link'))
    const throughLink = mirror.replace(recorded.home, join(recorded.home, 'link'))
    for (const [name, folder, why] of [
      ['.albumd-replaced', mirror, '.albumd-replaced is not a folder. Move it away'],
      ['t', join(mirror, 't'), 'and a link leads out of it'],
      ['t', join(throughLink, 't/new'), 'and a link leads out of it'],
    ] as const) {
      rmSync(join(mirror, name), { recursive: true, force: true })
      symlinkSync(outside, join(mirror, name))
      expect(await run(recorded, folder, '--at', THEN)).toMatchObject({
        code: 2,
        err: expect.stringContaining(why),
      })
      // Nothing was begun, so nothing is in doubt.
      expect(existsSync(join(mirror, '.albumd-restore'))).toBe(false)
      rmSync(join(mirror, name))
    }
    mkdirSync(join(mirror, 't'))
    writeFileSync(join(mirror, 't/a.png'), 'now')
    mkdirSync(join(mirror, '.albumd-replaced'))
    symlinkSync(outside, join(mirror, '.albumd-replaced/t'))
    expect(await run(recorded, mirror, '--at', THEN)).toMatchObject({
      code: 3,
      out: expect.stringContaining('a link leads out of'),
    })
    expect(readFileSync(join(mirror, 't/a.png'), 'utf8')).toBe('now')
    expect(readdirSync(outside)).toEqual([])
  })

  it('brings back the others where the disk can not read one file', async () => {
    const recorded = await recordPictures(['a', 'b'].map(name => ({ path: `${name}.png`, bytes: name })))
    const mirror = mirrorOf(recorded)
    writeFileSync(join(mirror, 'a.png'), 'x')
    rmSync(join(mirror, 'b.png'), { force: true })
    const disk = makeFailingDisk(recorded.home)
    disk.fail({ operation: 'read', path: join(mirror, 'a.png') })
    expect(await runApart(recorded, mirror, { env: disk.env })).toMatchObject({
      code: 3,
      out: expect.stringContaining("unread a.png: the file there can't be read (EIO)"),
    })
    expect(['a.png', 'b.png'].map(name => readFileSync(join(mirror, name), 'utf8'))).toEqual(['x', 'b'])
  })

  it.skipIf(!canMount() && !process.env.CI)('says that a disk is mounted read-only', async () => {
    const recorded = await recordPictures([{ path: 'a.png', bytes: 'a' }])
    const { through } = await bindReadOnly(mirrorOf(recorded))
    expect(await runApart(recorded, mirrorOf(recorded), { through })).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${mirrorOf(recorded)}: the disk is mounted read-only`),
    })
  })

  it.skipIf(!canMount() && !process.env.CI)(
    'brings back the others where a disk in the mirror is mounted read-only',
    async () => {
      const recorded = await recordPictures(
        ['card/a.png', 'card/deep/b.png', 'card/c.png', 'd.png'].map(path => ({ path, bytes: path })),
      )
      const mirror = mirrorOf(recorded)
      mkdirSync(join(mirror, 'card'), { recursive: true })
      recordMount(recorded, 'card', realDisk.lstat(join(mirror, 'card')))
      writeFileSync(join(mirror, 'card/c.png'), 'card/c.png')
      rmSync(join(mirror, 'd.png'), { force: true })
      const { through } = await bindReadOnly(join(mirror, 'card'))
      const { code, out } = await runApart(recorded, mirror, { through })
      expect(code).toBe(3)
      const card = join(mirror, 'card')
      expect(out).toContain(`missing card/a.png: ${card}/a.png: the disk is mounted read-only`)
      expect(out).toContain(`missing card/deep/b.png: ${card}/deep: the disk is mounted read-only`)
      expect(out).toContain('1 picture restored (5 B), 1 there already, of 4 in all')
      expect(readFileSync(join(mirror, 'd.png'), 'utf8')).toBe('d.png')
    },
  )

  it.skipIf(!canMount() && !process.env.CI).each([
    ['over', 'a folder', 'over is a mount point and was none at the last scan'],
    ['over/below', 'a folder above', 'over is a mount point and was none at the last scan'],
    ['over', 'another disk', 'another disk is mounted at over than at the last scan'],
    ['over/below', 'another disk above', 'another disk is mounted at over than at the last scan'],
    ['', 'another disk below', 'another disk is mounted at over than at the last scan'],
    ['', 'a folder below', 'over is a mount point and was none at the last scan'],
  ])('restores nothing into "%s" when a disk was mounted over %s', async (path, before, why) => {
    const recorded = await recordPictures([{ path: `${path || 'over'}/a.png`, bytes: 'a' }])
    if (before.startsWith('another disk')) recordMount(recorded, 'over')
    const folder = join(mirrorOf(recorded), path)
    mkdirSync(folder, { recursive: true })
    const { through } = await bindReadOnly(join(mirrorOf(recorded), 'over'))
    expect(await runApart(recorded, folder, { through })).toMatchObject({
      code: 2,
      err: expect.stringContaining(why),
    })
  })
})
