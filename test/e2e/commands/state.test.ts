import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { readConfig } from '../../../src/cli/read-config.ts'
import { backUp } from '../../../src/daemon/commands/backup.ts'
import { stateFiles } from '../../../src/daemon/state/claim.ts'
import { asNobody, NOBODY } from '../../nobody.ts'
import { png } from '../../pictures.ts'
import { daemonHere } from '../stage/process.ts'
import { type Stage, setStage } from '../stage/stage.ts'

it('a backup beside a daemon takes the place of a lost state, and no picture is sent again', async () => {
  const stage = await setStage()
  const state = join(stage.home, 'state')
  const file = join(stage.home, 'copy.db')
  expect(await stage.albumd('backup', file)).toMatchObject({
    code: 2,
    err: expect.stringContaining('No state yet'),
  })
  stage.write('a.png', png(3, 2).bytes)
  stage.write('b/c.png', png(4, 2).bytes)
  const daemon = await daemonHere(stage)
  await daemon.told('picture_uploaded', 2)
  for (let again = 0; again < 2; again++) {
    const { code, out } = await stage.here('backup', file, '--json')
    expect({ code, told: JSON.parse(out) }).toEqual({
      code: 0,
      told: { schema: 1, file, bytes: statSync(file).size },
    })
  }
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(stage.home).filter(name => name.endsWith('.tmp'))).toEqual([])
  expect(await daemon.stop()).toBe(0)

  const before = await stage.listing()
  rmSync(state, { recursive: true })
  mkdirSync(state, { mode: 0o700 })
  copyFileSync(file, join(state, 'albumd.db'))
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await stage.listing()).toEqual(before)
})

it('a backup replaces no file that is none, and nothing in the state folder', async () => {
  const stage = await setStage()
  stage.write('a.png', png(3, 2).bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  const other = join(stage.home, 'other.txt')
  writeFileSync(other, 'mine')
  const refused = async (file: string, words: string) =>
    expect(await stage.here('backup', file)).toMatchObject({ code: 2, err: expect.stringContaining(words) })
  await refused(other, 'no backup of albumd')
  await refused(join(stage.home, 'state/albumd.db'), 'in the state folder')
  await refused(join(stage.home, 'nowhere/copy.db'), 'is not there. Make the folder')
  await refused(stage.home, `${stage.home} is a folder. Name a file in it`)
  expect(existsSync(join(stage.home, 'nowhere'))).toBe(false)
})

it.runIf(process.getuid?.() === 0)('a backup into a folder of another user says what to do', async () => {
  const stage = await setStage({ pictures: { 'a.png': png(3, 2).bytes } })
  const folder = mkdtempSync(join(stage.home, 'theirs-'))
  const { database } = stateFiles(join(stage.home, 'state'))
  chmodSync(stage.home, 0o755)
  execFileSync('chown', ['-R', String(NOBODY), dirname(database)])
  const config = await readConfig(stage.config)
  await expect(asNobody(() => backUp(config, join(folder, 'copy.db')))).rejects.toThrow(
    `Backup could not be written into ${folder} (EACCES)`,
  )
})

const PICTURES = Object.fromEntries([0, 1, 2, 3].map(n => [`a/${n}.png`, png(3 + n, 3).bytes]))

/** A mirror that is in sync, and a config that names another folder of the same album. */
async function withOtherFolder() {
  const stage = await setStage({ pictures: PICTURES })
  const there = join(stage.home, 'new place')
  mirrorAt(stage, there)
  return { stage, there, before: await stage.listing() }
}

function mirrorAt(stage: Stage, folder: string, album = 'Photos'): void {
  stage.configure({ mirrors: [{ folder, album }] })
}

it('a renamed folder keeps its records by the command that sync names, and nothing is sent again', async () => {
  const { stage, there, before } = await withOtherFolder()
  renameSync(stage.pictures, there)
  const { code, err } = await stage.here('sync')
  expect(code).toBe(2)
  expect((await stage.status()).mirrors).toMatchObject([
    { state: 'blocked', reason: err.replace('albumd: ', '').trimEnd(), needs_person: true },
  ])
  const [, named] = /If the folder was moved, stop a running albumd and say "albumd (move-mirror .*?)"/.exec(
    err,
  )!
  expect(await stage.shell(named!)).toMatchObject({
    code: 0,
    out: expect.stringContaining(`${stage.pictures} → ${there}: 4 pictures moved`),
  })
  expect(await stage.here('sync')).toMatchObject({ code: 0, out: expect.stringContaining('all in sync') })
  expect(await stage.listing()).toEqual(before)
  const { history, state } = await stage.json('why', join(there, 'a/0.png'))
  expect(state).toBe('synced')
  expect(history.map(({ event }: { event: string }) => event)).toContain('uploaded')
  expect(await stage.here('move-mirror', stage.pictures, there)).toMatchObject({ code: 2 })
})

it.each([
  ['moved', (from: string, to: string) => renameSync(from, to), false],
  ['copied', (from: string, to: string) => void execFileSync('cp', ['-a', from, to]), true],
])(
  'a picture that is missing where the folder was %s is told, and guards a copy',
  async (_, bring, guarded) => {
    const { stage, there, before } = await withOtherFolder()
    bring(stage.pictures, there)
    rmSync(join(there, 'a/0.png'))
    expect(await stage.json('move-mirror', stage.pictures, there)).toMatchObject({
      pictures: 3,
      missing: 1,
      first_missing: 'a/0.png',
      guarded,
    })
    if (!guarded) return
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    expect((await stage.status()).mirrors).toMatchObject([{ state: 'guarded' }])
    expect(await stage.listing()).toEqual(before)
  },
)

it('a copy on another disk, with a link to it at the old place, is the same mirror, guarded or not', async () => {
  const { stage, there, before } = await withOtherFolder()
  execFileSync('cp', ['-a', stage.pictures, there])
  mirrorAt(stage, stage.pictures)
  renameSync(stage.pictures, `${stage.pictures}-away`)
  const daemon = await daemonHere(stage)
  await daemon.told('mirror_guarded')
  symlinkSync(there, stage.pictures)
  expect(await stage.here('move-mirror', stage.pictures, there)).toMatchObject({
    code: 4,
    err: expect.stringContaining('Stop that one first'),
  })
  expect(await daemon.stop()).toBe(0)
  expect(await stage.here('sync')).toMatchObject({
    code: 2,
    err:
      `albumd: Album "Photos" mirrors ${stage.pictures}, ${stage.pictures} is a symbolic link to ${there} now. ` +
      `If the folder was moved, stop a running albumd and say "albumd move-mirror ${stage.pictures} '${there}'"; ` +
      'else put the folder back in place of the link, or name another album or state_dir\n',
  })
  expect(await stage.json('move-mirror', stage.pictures, there)).toEqual({
    schema: 1,
    from: stage.pictures,
    to: there,
    album: 'Photos',
    pictures: 4,
    missing: 0,
    first_missing: null,
    guarded: false,
  })
  expect((await stage.status()).mirrors).toMatchObject([
    { folder: there, reason: expect.stringContaining('the next scan'), needs_person: false },
  ])
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await stage.listing()).toEqual(before)
})

it('a mirror does not move to a folder without most of its pictures, and the records stay as they are', async () => {
  const { stage, there, before } = await withOtherFolder()
  const refused = async (words: string) =>
    expect(await stage.here('move-mirror', stage.pictures, there)).toMatchObject({
      code: 2,
      err: expect.stringContaining(words),
    })
  await refused(`${there} is not there`)
  mkdirSync(join(there, 'a'), { recursive: true })
  await refused(`Only 0 of 4 pictures are in ${there}`)
  execFileSync('cp', ['-a', `${stage.pictures}/a/0.png`, `${stage.pictures}/a/1.png`, join(there, 'a')])
  writeFileSync(join(there, 'a/2.png'), png(90, 9).bytes)
  await refused(`Only 2 of 4 pictures are in ${there}`)
  mirrorAt(stage, stage.pictures)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await stage.listing()).toEqual(before)
})

it('a mirror moves only from a folder that is known to one that the config names for its album', async () => {
  const { stage, there } = await withOtherFolder()
  renameSync(stage.pictures, there)
  const refused = async (from: string, words: string) =>
    expect(await stage.here('move-mirror', from, there)).toMatchObject({
      code: 2,
      err: expect.stringContaining(words),
    })
  await refused(
    join(stage.home, 'never'),
    `No mirror at ${stage.home}/never is known. Known are ${stage.pictures}`,
  )
  mirrorAt(stage, there, 'Others')
  await refused(stage.pictures, 'Put mirrors[].album back')
  mirrorAt(stage, join(stage.home, 'elsewhere'))
  await refused(stage.pictures, `The config names no mirror at ${there}`)
  mkdirSync(stage.pictures)
  stage.configure({
    mirrors: [
      { folder: stage.pictures, album: 'Others' },
      { folder: there, album: 'Photos' },
    ],
  })
  await refused(stage.pictures, `The config still names ${stage.pictures}`)
})

it('a mirror does not move to a folder with records of its own, and another album is no move', async () => {
  const stage = await setStage({ pictures: PICTURES })
  mirrorAt(stage, stage.pictures, 'Others')
  expect(await stage.here('sync')).toMatchObject({
    code: 2,
    err: expect.stringContaining('to send all again'),
  })
  const second = join(stage.home, 'second')
  mkdirSync(second)
  writeFileSync(join(second, 'b.png'), png(8, 8).bytes)
  mirrorAt(stage, second, 'Second')
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await stage.here('move-mirror', stage.pictures, second)).toMatchObject({
    code: 2,
    err: expect.stringContaining('has records of its own'),
  })
})

it('status tells of an albumd that works although its state folder was removed', async () => {
  const stage = await setStage()
  stage.write('a.png', png(4, 4).bytes)
  const daemon = await daemonHere(stage)
  await daemon.told('picture_uploaded')
  rmSync(join(stage.home, 'state'), { recursive: true })
  expect(await stage.status()).toMatchObject({
    waits_for: { code: 'LOCKED' },
    mirrors: [{ state: 'blocked', needs_person: true }],
  })
  await daemon.stop()
})

it('commands that only read leave the state as it was, without a log beside it', async () => {
  const stage = await setStage()
  stage.write('a.png', png(4, 4).bytes)
  await stage.pass()
  const state = join(stage.home, 'state')
  const before = readdirSync(state)
  for (const command of [['status'], ['ls'], ['why', 'a.png'], ['deletions', 'list'], ['doctor']]) {
    expect(await stage.here(...command)).toMatchObject({ code: 0 })
    expect(readdirSync(state)).toEqual(before)
  }
})
