import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { treeOf } from '../../daemon/recorded-pictures.ts'
import { png } from '../../pictures.ts'
import { daemonHere, startAlbumd } from '../stage/process.ts'
import { type Stage, setStage } from '../stage/stage.ts'

const picture = (n: number) => png(2 + n, 2).bytes

/** This moment, in ISO 8601. What happens afterwards has a later timestamp. */
async function moment(): Promise<string> {
  const now = Date.now()
  while (Date.now() <= now) await pause(1)
  return new Date(now).toISOString()
}

/** Paths below `folder`, without what lies in hidden folders. */
function shownIn(folder: string): string[] {
  return Object.keys(treeOf(folder))
    .filter(path => !path.startsWith('.'))
    .sort()
}

async function thirty(): Promise<{ stage: Stage; paths: string[]; before: Record<string, Buffer> }> {
  const stage = await setStage({ config: { deletions: { grace: '30d' } } })
  const paths = Array.from({ length: 30 }, (_, n) => `${['', 'a/', 'a/b/'][n % 3]}${n}.png`)
  for (const [n, path] of paths.entries()) {
    stage.write(path, picture(n))
    utimesSync(join(stage.pictures, path), 1_500_000_000 + n, 1_500_000_000.123456 + n)
  }
  const before = Object.fromEntries(paths.map(path => [path, readFileSync(join(stage.pictures, path))]))
  return { stage, paths, before }
}

/** Bytes that begin like no format. */
const encrypted = (size: number) => Buffer.alloc(size, 0xee)

/** Of four pictures, one gets other bytes, one becomes another picture, one is encrypted and renamed, one is deleted. */
function wreck(stage: Stage, paths: readonly string[]): void {
  for (const [n, path] of paths.entries()) {
    const full = join(stage.pictures, path)
    const { size, mtime } = statSync(full)
    if (n % 4 === 3) rmSync(full)
    else writeFileSync(full, n % 4 === 1 ? picture(100 + n) : encrypted(size))
    // Some of what encrypts keeps the size and the time.
    if (n % 4 === 0) utimesSync(full, mtime, mtime)
    if (n % 4 === 2) renameSync(full, `${full}.locked`)
  }
}

describe('restore --at', () => {
  it('brings a tree back that was encrypted, replaced, renamed and deleted, and nothing is sent twice', async () => {
    const { stage, paths } = await thirty()
    const tree = treeOf(stage.pictures)
    const daemon = await daemonHere(stage)
    await daemon.told('picture_uploaded', 30)
    await expect.poll(async () => (await stage.status()).mirrors[0]).toMatchObject({ synced: 30 })
    const first = await stage.listing()
    const at = await moment()

    wreck(stage, paths)
    // 8 are no pictures, 8 are other pictures, and 14 are gone.
    await expect
      .poll(async () => (await stage.status()).mirrors[0])
      .toMatchObject({ failed: 8, synced: 8, held_deletions: 22 })
    const accident = await moment()
    expect(await stage.status()).toMatchObject({ restorable_since: expect.any(String) })
    expect(Date.parse((await stage.status()).restorable_since)).toBeLessThan(Date.parse(at))

    const back = join(stage.home, 'back')
    expect(await stage.here('restore', back, '--at', at)).toMatchObject({ code: 0 })
    expect(treeOf(back)).toEqual(tree)
    const wrecked = shownIn(stage.pictures)

    const restored = await stage.here('restore', stage.pictures, '--at', at)
    expect(restored).toMatchObject({ code: 0, err: '' })
    expect(restored.out).toMatch(
      /\n16 pictures replaced files with other bytes, which are in .*\.albumd-replaced now\n/,
    )
    for (const path of paths) expect(treeOf(stage.pictures)[path]).toEqual(tree[path])
    expect(shownIn(stage.pictures)).toEqual([...new Set([...wrecked, ...paths])].sort())
    expect(shownIn(join(stage.pictures, '.albumd-replaced'))).toHaveLength(16)
    expect(existsSync(join(stage.pictures, '.albumd-restore'))).toBe(false)

    // The images that waited for their deletion are in use again. What waits now are the eight other pictures.
    await expect
      .poll(async () => (await stage.status()).mirrors[0])
      .toMatchObject({ synced: 30, failed: 0, pending_uploads: 0, pending_deletions: 8 })
    expect(daemon.paths('picture_uploaded')).toHaveLength(38)
    expect(await stage.listing()).toEqual(expect.arrayContaining(first))
    const { deletions } = await stage.json('deletions', 'list')
    expect(deletions.map(({ path }: { path: string }) => path).sort()).toEqual(
      paths.filter((_, n) => n % 4 === 1).sort(),
    )

    // The moment of the accident can be had as well: the eight others are the newest versions of that time.
    const then = join(stage.home, 'then')
    expect(await stage.here('restore', then, '--at', accident)).toMatchObject({ code: 0 })
    for (const [n, path] of paths.entries())
      if (n % 4 === 1) expect(readFileSync(join(then, path))).toEqual(Buffer.from(picture(100 + n)))
    expect(await daemon.stop()).toBe(0)
  })

  it('goes on after SIGKILLs in a mirror without a daemon, and the next sync sends nothing', async () => {
    const { stage, paths, before } = await thirty()
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    const first = await stage.listing()
    const at = await moment()
    for (const [n, path] of paths.slice(0, 15).entries())
      writeFileSync(join(stage.pictures, path), encrypted(50 + n))
    rmSync(join(stage.pictures, 'a'), { recursive: true })
    const isBack = (path: string) =>
      existsSync(join(stage.pictures, path)) && readFileSync(join(stage.pictures, path)).equals(before[path]!)
    for (let kills = 0; kills < 3; kills++) {
      const there = paths.filter(isBack).length
      const child = startAlbumd(stage, ['restore', stage.pictures, '--at', at])
      let hasEnded = false
      void child.ended.then(() => (hasEnded = true))
      while (!hasEnded && paths.filter(isBack).length <= there) await pause(1)
      child.kill('SIGKILL')
      await child.ended
    }
    const last = await stage.json('restore', stage.pictures, '--at', at)
    expect(last).toMatchObject({ exit_code: 0, missing: 0, problems: [] })
    expect(paths.filter(isBack)).toEqual(paths)
    // Each of the five wrecked files that still were there when the folder was deleted is kept.
    expect(shownIn(join(stage.pictures, '.albumd-replaced'))).toHaveLength(5)
    expect(readdirSync(stage.pictures).filter(name => name.startsWith('.'))).toEqual(['.albumd-replaced'])
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.listing()).toEqual(first)
  })

  it('is killed in an emptied mirror, and the next syncs delete nothing before it has ended', async () => {
    const stage = await setStage({ config: { uploads: { concurrency: 1 } } })
    const names = Array.from({ length: 12 }, (_, n) => `${n}.png`)
    for (const [n, name] of names.entries()) stage.write(name, picture(n))
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    const first = await stage.listing()
    const at = await moment()
    const own = join(stage.pictures, '.albumd-restore')
    // A restore that has ended before the signal came is repeated.
    while (!existsSync(own)) {
      for (const name of names) rmSync(join(stage.pictures, name))
      const child = startAlbumd(stage, ['restore', stage.pictures, '--at', at])
      while (readdirSync(stage.pictures).length < 6) await pause(1)
      child.kill('SIGKILL')
      await child.ended
    }
    for (const _ of [1, 2]) {
      const { exit_code } = await stage.pass()
      expect(await stage.listing()).toEqual(first)
      expect(exit_code).toBe(3)
    }
    expect(await stage.json('restore', stage.pictures, '--at', at)).toMatchObject({ mirror_waits: false })
    expect(existsSync(own)).toBe(false)
    expect(shownIn(stage.pictures)).toEqual([...names].sort())
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.listing()).toEqual(first)
  })

  it('makes a folder again that is gone from a mirror, and counts what came later', async () => {
    const stage = await setStage({ config: { deletions: { hold_min: 100 } } })
    for (const [n, path] of ['0.png', 'tour/1.png', 'tour/2.png'].entries()) stage.write(path, picture(n))
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    const at = await moment()
    const tour = join(stage.pictures, 'tour')
    renameSync(tour, join(stage.pictures, 'great tour'))
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    const restored = await stage.here('restore', tour, '--at', at)
    expect(restored).toMatchObject({ code: 0, err: '' })
    expect(restored.out).not.toContain('later')
    expect(shownIn(tour)).toEqual(['1.png', '2.png'])
    const whole = await stage.here('restore', stage.pictures, '--at', at)
    expect(whole.code).toBe(0)
    expect(whole.out).toMatch(/^as it was at .*; 2 pictures that came later stay$/m)
    expect(await stage.json('restore', stage.pictures, '--at', at)).toMatchObject({
      later: 2,
    })
    // One that was broken then, and still is.
    stage.write('broken.png', 'no picture')
    await stage.pass()
    const broken = await moment()
    stage.write('broken.png', 'still no picture')
    await stage.pass()
    expect(await stage.json('restore', stage.pictures, '--at', broken)).toMatchObject({ later: 0 })
  })

  it('names what was given up, and refuses a time that is none in one line', async () => {
    const stage = await setStage({ config: { deletions: { hold_min: 100 } } })
    for (let n = 0; n < 3; n++) stage.write(`${n}.png`, picture(n))
    const early = new Date(Date.now() - 1000).toISOString()
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    const at = await moment()
    rmSync(join(stage.pictures, '1.png'))
    renameSync(join(stage.pictures, '2.png'), join(stage.pictures, 'moved.png'))
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    const after = await moment()

    const back = join(stage.home, 'back')
    const told = await stage.json('restore', back, '--at', at)
    expect(told).toMatchObject({
      exit_code: 3,
      problems: [{ path: '1.png', code: 'NOT_FOUND', message: 'no longer on the host' }],
      restored: 2,
      at,
    })
    expect(Date.parse(told.restorable_since)).toBeGreaterThan(Date.parse(at))
    // The picture that has moved is there under its old name, by its bytes.
    expect(shownIn(back)).toEqual(['0.png', '2.png'])
    const { out } = await stage.here('restore', join(stage.home, 'anew'), '--at', at)
    expect(out).toMatch(/^3 pictures recorded then/)
    expect(out).toMatch(/^as it was at .*, except for what is missing$/m)
    const status = await stage.here('status')
    const since = /^back {4}to any moment since (.*): albumd restore FOLDER --at TIME$/m.exec(status.out)?.[1]
    // The time that status shows is one to restore. The moved picture was found before it, and has the bytes of an image.
    const recent = ['restore', join(stage.home, 'recent'), '--at', since!]
    await expect.poll(() => stage.here(...recent)).toMatchObject({ code: 0 })
    expect(shownIn(join(stage.home, 'recent'))).toEqual(['0.png', 'moved.png'])
    const now = join(stage.home, 'now')
    expect(await stage.here('restore', now, '--at', after)).toMatchObject({ code: 0 })
    expect(shownIn(now)).toEqual(['0.png', 'moved.png'])
    for (const [folder, why] of [
      [join(stage.pictures, '0.png'), '0.png is a picture. Name the folder that holds it'],
      [join(stage.pictures, 'none'), 'none is not there, lies in the mirror '],
      [stage.home, `holds the mirror ${stage.pictures}. Name the mirror`],
    ] as const) {
      const refused = await stage.here('restore', folder, '--at', at)
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(why) })
    }
    for (const time of ['2999-01-01', 'yesterday', early])
      expect(await stage.here('restore', join(stage.home, 'else'), '--at', time)).toMatchObject({ code: 2 })
  })

  it('does not say "as it was" of a time of which an older state knows nothing', async () => {
    const stage = await setStage({ config: { deletions: { grace: '30d' } } })
    const state = join(stage.home, 'state')
    stage.write('a.png', picture(0))
    await stage.here('sync')
    const before = await moment()
    // A pass records until when it knows all.
    await stage.here('sync')
    /** Puts the state of now back after something was done. */
    const putBack = async (act: () => Promise<unknown>) => {
      cpSync(state, `${state}-old`, { recursive: true, preserveTimestamps: true })
      await act()
      rmSync(state, { recursive: true })
      renameSync(`${state}-old`, state)
    }
    let between = ''
    await putBack(async () => {
      stage.write('b.png', picture(1))
      await stage.here('sync')
      between = await moment()
    })
    const at = (time: string, name: string) => stage.here('restore', join(stage.home, name), '--at', time)
    const unknown = {
      code: 3,
      out: expect.stringMatching(/^perhaps not as it was at .*\nNothing was recorded from/m),
    }

    // Nobody has opened the older state yet.
    expect(await at(between, 'one')).toMatchObject(unknown)
    expect(await at(before, 'two')).toMatchObject({ code: 0 })
    expect(await stage.status()).toMatchObject({ restorable_gaps: [{ to: null }] })
    await stage.here('sync')
    await stage.here('audit')
    expect(await at(between, 'three')).toMatchObject(unknown)
    const [gap] = (await stage.status()).restorable_gaps
    expect([gap.from < between, between < gap.to]).toEqual([true, true])
    expect((await stage.here('status')).out).toMatch(
      /^ {8}Nothing was recorded from .* to .*, because an older state/m,
    )
    const later = await moment()
    const known = { code: 0, out: expect.stringMatching(/^as it was/m) }
    expect(await at(later, 'four')).toMatchObject(known)
    await stage.here('sync')
    await putBack(() => stage.here('sync'))
    await stage.here('audit')
    expect(await at(later, 'five')).toMatchObject(known)
    expect(await at(between, 'six')).toMatchObject(unknown)
    expect((await stage.status()).restorable_gaps).toEqual([
      gap,
      { from: expect.any(String), to: expect.any(String) },
    ])
  })
})
