import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { daemonHere } from '../stage/process.ts'
import { type Stage, setStage } from '../stage/stage.ts'

/** A mirror with one picture that is on the host, and one that is broken. */
async function withBroken(): Promise<Stage> {
  const stage = await setStage()
  stage.write('a/good.png', png().bytes)
  stage.write('a/broken.png', 'no picture')
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  return stage
}

const mirrorOf = async (stage: Stage) => (await stage.status()).mirrors[0]

it('an accepted failure is shown apart, and sync is in sync with it', async () => {
  const stage = await withBroken()
  expect((await stage.here('why', 'a/broken.png')).out).toMatch(
    /albumd tries again once the file changes\n {10}to try at once: albumd retry \S+\n {10}to accept the failure, [^:]*: albumd accept/,
  )
  const { next } = await stage.json('why', 'a/broken.png')
  const { command } = next.find(({ code }: { code: string }) => code === 'accept_failure')
  expect(await stage.shell(command.replace('albumd ', ''))).toMatchObject({
    code: 0,
    out: expect.stringContaining(`${stage.pictures}/a/broken.png: File is no picture`),
  })
  const status = await stage.json('status')
  expect(status.failures).toEqual([])
  expect(status.accepted).toMatchObject([
    { path: 'a/broken.png', code: 'NOT_A_PICTURE', needs_person: false, accepted_at: expect.any(String) },
  ])
  expect(status.mirrors).toMatchObject([{ failed: 0, accepted: 1, synced: 1, oldest_unsynced: null }])
  expect((await stage.here('status')).out).toContain('1 failure accepted; "albumd accept --list" says which')
  const { code, out } = await stage.here('sync')
  expect(code).toBe(0)
  expect(out).toContain('1 failure accepted')
  expect(await stage.json('why', 'a/broken.png')).toMatchObject({
    state: 'failed',
    failure: { accepted_at: expect.any(String) },
  })
  expect(await stage.json('accept', '--list')).toMatchObject({
    schema: 1,
    action: 'list',
    failures: [{ path: 'a/broken.png', code: 'NOT_A_PICTURE' }],
  })
  expect(await stage.json('accept', '--undo', 'a')).toMatchObject({
    action: 'undo',
    failures: [{ accepted_at: null, needs_person: true }],
  })
  expect((await stage.here('accept', '--list')).out).toBe('no failure is accepted\n')
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
})

it('accept and retry refuse a path below a mirror where pictures of several mirrors failed', async () => {
  const stage = await setStage()
  const dirs = ['one', 'two'].map(name => join(stage.home, name))
  stage.configure({ mirrors: dirs.map(folder => ({ folder, album: folder.slice(-3) })) })
  for (const dir of dirs) {
    mkdirSync(join(dir, 'a'), { recursive: true })
    writeFileSync(join(dir, 'a/broken.png'), 'no picture')
  }
  expect(await stage.pass()).toMatchObject({ exit_code: 3, failed: 2 })
  const err = expect.stringContaining(
    `a is in more than one mirror (${dirs.join(', ')}). Give its whole path`,
  )
  for (const command of ['accept', 'retry'])
    expect(await stage.here(command, 'a')).toMatchObject({ code: 2, out: '', err })
  expect(await stage.json('accept', join(dirs[0]!, 'a'))).toMatchObject({ failures: [{ mirror: dirs[0] }] })
  expect((await stage.json('status')).mirrors).toMatchObject([{ accepted: 1 }, { accepted: 0 }])
})

it('an acceptance lasts while the file keeps its bytes, and ends with other bytes or an upload', async () => {
  const stage = await withBroken()
  const accept = () => stage.here('accept', 'a/broken.png')
  await accept()
  chmodSync(join(stage.pictures, 'a/broken.png'), 0o600)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  await stage.here('retry')
  expect(await mirrorOf(stage)).toMatchObject({ failed: 0, accepted: 1 })

  stage.write('a/broken.png', 'no picture either')
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  expect(await mirrorOf(stage)).toMatchObject({ failed: 1, accepted: 0 })

  await accept()
  stage.write('a/broken.png', png(3, 3).bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await mirrorOf(stage)).toMatchObject({ synced: 2, failed: 0, accepted: 0 })
})

it('an acceptance goes with its file to another folder or name, and not to a copy', async () => {
  const stage = await withBroken()
  const list = async () =>
    (await stage.json('accept', '--list')).failures.map(({ path }: { path: string }) => path)
  await stage.here('accept', 'a/broken.png')
  renameSync(join(stage.pictures, 'a'), join(stage.pictures, 'b'))
  expect(await stage.here('sync')).toMatchObject({
    code: 0,
    out: expect.stringContaining('1 failure accepted'),
  })
  expect(await list()).toEqual(['b/broken.png'])
  renameSync(join(stage.pictures, 'b/broken.png'), join(stage.pictures, 'b/known.png'))
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await list()).toEqual(['b/known.png'])
  stage.write('copy.png', 'no picture')
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  expect(await mirrorOf(stage)).toMatchObject({ failed: 1, accepted: 1 })
  // The copy is accepted, once it is all that is left.
  rmSync(join(stage.pictures, 'b/known.png'))
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await list()).toEqual(['copy.png'])
})

it('a name that is not UTF-8 can be accepted, and a folder in doubt can not', async () => {
  const stage = await setStage()
  for (let n = 0; n < 20; n++) stage.write(`a/${n}.png`, png(2 + n, 2).bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  await stage.shell(
    `status >/dev/null; touch '${stage.pictures}/'$(printf 'caf\\351.png'); rm '${stage.pictures}/a/'*`,
  )
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  const [{ command }] = (await stage.json('why', 'caf\\xe9.png')).next
  expect((await stage.shell(`${command.replace('albumd ', '')} --json`)).out).toContain('"NAME_NOT_UTF8"')
  stage.write('another.png', png(7, 7).bytes)
  await stage.pass()
  expect(await mirrorOf(stage)).toMatchObject({ accepted: 1, state: 'guarded' })
  expect(await stage.here('accept', 'a')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/No picture at or below a has failed\. .*"albumd trust"/),
  })
})

it('a daemon accepts too; what is not failed, and a line that says nothing or two things, is refused', async () => {
  const stage = await withBroken()
  const daemon = await daemonHere(stage)
  await daemon.told('scan_finished')
  expect(await stage.here('accept', 'a/broken.png')).toMatchObject({ code: 0 })
  expect(await stage.here('accept', 'a/good.png')).toMatchObject({
    code: 2,
    err: expect.stringContaining('No picture at or below a/good.png has failed'),
  })
  expect(await stage.here('accept', '--undo', 'a/good.png')).toMatchObject({ code: 2 })
  expect(await stage.here('accept')).toMatchObject({ code: 2, err: expect.stringContaining('--list') })
  expect(await stage.here('accept', '--list', 'a/good.png')).toMatchObject({ code: 2 })
  expect(await mirrorOf(stage)).toMatchObject({ accepted: 1 })
  expect(await daemon.stop()).toBe(0)
})
