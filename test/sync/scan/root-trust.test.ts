import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Disk, realDisk } from '../../../src/local/disk.ts'
import { checkRoot, missingPictures, recordTrust, trustIn } from '../../../src/sync/scan/trust.ts'
import { because, factOf } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { deleted, openWith, openWorkshop, summary, type Workshop, workshopWith } from '../workshop.ts'

const mirror = ({ synced }: Workshop) => synced.mirrors.byId(1)!

const PICTURES = { 'red.png': png(3, 2).bytes, 'a/green.png': png(3, 3).bytes }
const mirrored = () => workshopWith(PICTURES)

/** The root with all it held goes; an empty folder is in its place. */
function replace({ pictures }: Workshop): void {
  renameSync(pictures, `${pictures}-old`)
  mkdirSync(pictures)
}

async function trust(workshop: Workshop): Promise<void> {
  const trust = trustIn(realDisk, workshop.synced, mirror(workshop), '')
  if (trust.kind !== 'root') throw new Error(trust.kind)
  await recordTrust(workshop.synced, trust)
}

describe('a root that a person trusts', () => {
  it('may be empty: what it held goes, and it stays trusted for as long as it is empty', async () => {
    const workshop = await mirrored()
    replace(workshop)
    await workshop.pass()
    expect(factOf(mirror(workshop).guard!)).toContain('is empty and held pictures before')
    const missing = missingPictures(realDisk, workshop.synced, mirror(workshop), () => true)
    expect(Array.from(missing, ({ path }) => path).sort()).toEqual(['a/green.png', 'red.png'])
    await trust(workshop)
    // Grace: everything is looked at again and again before anything goes.
    let running = 0
    const parts = { graceMs: 1000, running: () => running }
    await workshop.pass(parts)
    expect(mirror(workshop)).toMatchObject({ guard: null, accept: 2 })
    expect(summary(workshop)).toMatchObject({ pending_deletions: 2 })
    running = 2000
    await workshop.pass(parts)
    expect(deleted(workshop)).toBe(2)
    workshop.write('new.png', png(4, 4).bytes)
    await workshop.pass()
    expect(mirror(workshop)).toMatchObject({ guard: null, accept: 0 })
    workshop.remove('new.png')
    await workshop.pass()
    expect(mirror(workshop)).toMatchObject({ guard_code: 'ROOT' })
  })

  it('may be another folder, and everything missing in it is believed', async () => {
    const workshop = await openWorkshop()
    for (let n = 0; n < 20; n++) workshop.write(`many/${n}.png`, png(3, 2 + n).bytes)
    await workshop.pass()
    replace(workshop)
    mkdirSync(join(workshop.pictures, 'many'))
    workshop.write('new.png', png(9, 9).bytes)
    await workshop.pass()
    expect(factOf(mirror(workshop).guard!)).toContain('is another folder than before')
    expect(summary(workshop)).toMatchObject({ files: 20, synced: 20 })
    await trust(workshop)
    await workshop.pass()
    expect(mirror(workshop)).toMatchObject({ guard: null, accept: 0 })
    expect(summary(workshop)).toMatchObject({ files: 1, synced: 1, held_deletions: 20 })
  })

  it('is the one that was there then: yet another one is in doubt', async () => {
    const workshop = await mirrored()
    replace(workshop)
    await workshop.pass()
    await trust(workshop)
    renameSync(workshop.pictures, `${workshop.pictures}-trusted`)
    mkdirSync(workshop.pictures)
    await workshop.pass()
    expect(mirror(workshop)).toMatchObject({ guard_code: 'ROOT' })
    expect(summary(workshop)).toMatchObject({ synced: 2, pending_deletions: 0 })
    // The old one is known by its pictures.
    rmSync(workshop.pictures, { recursive: true })
    renameSync(`${workshop.pictures}-old`, workshop.pictures)
    await workshop.pass()
    expect(mirror(workshop)).toMatchObject({ guard: null, accept: 0 })
    expect(deleted(workshop)).toBe(0)
  })

  it('must be there and be a folder; one that is not in doubt needs no word', async () => {
    const workshop = await mirrored()
    const asked = (path = '') => trustIn(realDisk, workshop.synced, mirror(workshop), path)
    expect(asked()).toEqual({ kind: 'needless', elsewhere: [] })
    renameSync(workshop.pictures, `${workshop.pictures}-old`)
    expect(asked()).toMatchObject({ kind: 'impossible', reason: expect.stringContaining('root_missing') })
    expect(asked('a')).toMatchObject({ kind: 'impossible' })
    mkdirSync(workshop.pictures)
    expect(asked('a')).toEqual({ kind: 'needless', elsewhere: [workshop.pictures] })
    rmSync(workshop.pictures, { recursive: true })
    writeFileSync(workshop.pictures, '')
    expect(asked()).toMatchObject({
      kind: 'impossible',
      reason: expect.stringContaining('root_not_a_folder'),
    })
  })
})

it('a root on a disk without birth times is known by its pictures', async () => {
  const workshop = await openWith(PICTURES)
  const disk: Disk = { ...realDisk, lstat: path => ({ ...realDisk.lstat(path), birthtime: 0 }) }
  await workshop.pass({ disk })
  // Another such disk in its place has the same device and inode.
  const [red, aside] = [join(workshop.pictures, 'red.png'), `${workshop.pictures}-red`]
  renameSync(red, aside)
  workshop.remove('a')
  workshop.write('blue.png', png(3, 5).bytes)
  await workshop.pass({ disk })
  expect(factOf(mirror(workshop).guard!)).toContain('is another folder than before')
  expect(deleted(workshop)).toBe(0)
  expect(workshop.events.filter(({ event }) => event === 'picture_uploaded')).toHaveLength(2)
  renameSync(aside, red)
  await workshop.pass({ disk })
  expect(mirror(workshop).guard).toBeNull()
  expect(summary(workshop)).toMatchObject({ synced: 2, pending_deletions: 0 })
})

it('a folder that can not be read can not be trusted', async () => {
  const workshop = await mirrored()
  mkdirSync(join(workshop.pictures, 'a/.albumdignore'))
  await workshop.pass()
  const asked = (path: string) => trustIn(realDisk, workshop.synced, mirror(workshop), path)
  expect(asked('a')).toMatchObject({
    kind: 'impossible',
    reason: expect.stringContaining('ignore_file_unreliable'),
  })
  expect(asked('')).toEqual({ kind: 'needless', elsewhere: [`${workshop.pictures}/a`] })
})

it('a root that can not be looked at is not trusted, with what the disk says', async () => {
  const workshop = await mirrored()
  const folder = `${workshop.pictures}/${'n'.repeat(300)}`
  const check = checkRoot(realDisk, workshop.synced, { ...mirror(workshop), folder })
  const reason = because('root_unreadable', { folder, code: 'ENAMETOOLONG' })
  expect(check).toEqual({ trusted: false, reason, found: null })
})
