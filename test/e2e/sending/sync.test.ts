import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { stateFiles } from '../../../src/daemon/state/claim.ts'
import { markOf } from '../../../src/synced/witness.ts'
import { png } from '../../pictures.ts'
import { startAlbumd } from '../stage/process.ts'
import { runProgram, setStage, sha256 } from '../stage/stage.ts'

const SAMPLES = join(import.meta.dirname, '../../../src/cli/try/pictures')
const red = png(3, 2, 10).bytes
const green = png(3, 2, 20).bytes

describe('sync', () => {
  it('retry refuses a path below a mirror where pictures of several mirrors failed', async () => {
    const stage = await setStage()
    const dirs = ['one', 'two'].map(name => join(stage.home, name))
    stage.configure({ mirrors: dirs.map(folder => ({ folder, album: folder.slice(-3) })) })
    for (const dir of dirs) {
      mkdirSync(join(dir, 'a'), { recursive: true })
      writeFileSync(join(dir, 'a/broken.png'), 'no picture')
    }
    expect(await stage.pass()).toMatchObject({ exit_code: 3, failed: 2 })
    expect(await stage.here('retry', 'a')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(`a is in more than one mirror (${dirs.join(', ')})`),
    })
  })

  it('mirrors pictures of every format, byte for byte, in nested albums, over TLS', async () => {
    const stage = await setStage({ host: { tls: true } })
    const expected: Record<string, string> = {}
    for (const path of readdirSync(SAMPLES, { recursive: true, encoding: 'utf8' })) {
      if (!statSync(join(SAMPLES, path)).isFile()) continue
      const bytes = readFileSync(join(SAMPLES, path))
      stage.write(path, bytes)
      if (!path.endsWith('.txt')) expected[`Photos/${path}`] = sha256(bytes)
    }
    const first = await stage.sync()
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out).toMatch(
      /\n17 pictures uploaded\nLeft out: 1 \(1 TXT\). "albumd ls --left-out" says why\n$/,
    )
    const second = (await stage.here('sync')).out
    expect(second).not.toMatch(/left out/i)
    expect(second).toContain('nothing to do')
    const status = await stage.json('status')
    expect(status.mirrors[0]).toMatchObject({ files: 17, synced: 17, failed: 0, left_out: { format: 1 } })
    expect(await stage.delivered()).toEqual(expected)
  })

  it('writes nothing where there is nothing to do', async () => {
    const stage = await setStage({ pictures: { 'a.png': red } })
    const { database, witness } = stateFiles(join(stage.home, 'state'))
    const writesNothing = async () => {
      const marks = () => [database, witness].map(markOf)
      const before = marks()
      expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0 })
      return isDeepStrictEqual(marks(), before)
    }
    // A folder that has just changed is looked at once more.
    await expect.poll(writesNothing, { timeout: 20_000 }).toBe(true)
  })

  it('makes good what was added, changed, moved and deleted while it was not running', async () => {
    const stage = await setStage()
    for (const name of ['stays', 'changes', 'movesaway', 'goes'])
      stage.write(`a/${name}.png`, png(4, 4, name.length).bytes)
    await stage.pass()
    stage.write('a/changes.png', red)
    stage.write('new/added.png', green)
    renameSync(join(stage.pictures, 'a/movesaway.png'), join(stage.pictures, 'moved.png'))
    rmSync(join(stage.pictures, 'a/goes.png'))
    const synced = await stage.here('sync')
    expect(synced).toMatchObject({ code: 0 })
    // Before deletions everything is scanned once more.
    expect(synced.out.match(/: \d+ pictures in \d+ folders$/gm)).toHaveLength(1)
    expect(await stage.delivered()).toEqual({
      'Photos/a/stays.png': sha256(png(4, 4, 5).bytes),
      'Photos/a/changes.png': sha256(red),
      'Photos/moved.png': sha256(png(4, 4, 9).bytes),
      'Photos/new/added.png': sha256(green),
    })
  })

  it('with --dry-run tells the plan with reasons and changes neither the host nor the state', async () => {
    const stage = await setStage()
    const untouched = await stage.here('sync', '--dry-run')
    expect(untouched).toMatchObject({ code: 0 })
    expect(readdirSync(stage.home)).not.toContain('state')
    stage.write('goes.png', red)
    stage.write('changes.png', green)
    await stage.pass()
    rmSync(join(stage.pictures, 'goes.png'))
    stage.write('changes.png', png(30, 30).bytes)
    // No picture of the size of one that is gone, which would perhaps have moved.
    stage.write('b/new.png', png(5, 2).bytes)
    const state = sha256(readFileSync(join(stage.home, 'state/albumd.db')))
    const listing = await stage.listing()
    const { code, out } = await stage.here('sync', '--dry-run')
    expect(code).toBe(0)
    expect(out).toContain('upload b/new.png (new')
    expect(out).toMatch(/replace changes\.png \(changed from \d+ to \d+ bytes/)
    expect(out).toContain('delete goes.png (gone from the disk)')
    expect(out).toContain('use album "Photos/b"')
    expect(sha256(readFileSync(join(stage.home, 'state/albumd.db')))).toBe(state)
    expect(readdirSync(join(stage.home, 'state')).filter(name => /-(wal|shm)$/.test(name))).toEqual([])
    expect(await stage.listing()).toEqual(listing)
    const TMPDIR = join(stage.home, 'nowhere')
    expect(await runProgram(['sync', '--dry-run', '--json'], stage.home, { TMPDIR })).toMatchObject({
      code: 2,
      out: expect.stringContaining('NO_COPY'),
    })
  })

  it('says what is left and why it could not go on, once', async () => {
    const stage = await setStage()
    stage.write('red.png', red)
    writeFileSync(join(stage.home, 'api-key'), 'another-key')
    const { code, out, err } = await stage.here('sync')
    expect(code).toBe(5)
    expect(out).toContain('nothing done; left: 1 to upload')
    expect(`${out}${err}`.match(/INVALID_API_KEY/g)).toHaveLength(1)
    expect(err).toContain('api_key_file')
  })

  it('goes on with its work when nobody reads along any more', async () => {
    const stage = await setStage()
    for (let shade = 0; shade < 30; shade++) stage.write(`${shade}.png`, png(2, 2, shade).bytes)
    const { err } = await stage.shell(`sync --config ${stage.config} | head -n 1`)
    expect(err).toBe('')
    await expect.poll(async () => (await stage.status()).mirrors[0].synced).toBe(30)
  })

  it('that is interrupted says so, and calls nothing guarded', async () => {
    const stage = await setStage()
    stage.configure({
      host: { base_url: stage.baseUrl, api_key_file: 'api-key', requests_per_second: { upload: 2 } },
    })
    for (let shade = 0; shade < 30; shade++) stage.write(`${shade}.png`, png(2, 2, shade).bytes)
    const sync = startAlbumd(stage, ['sync'])
    await expect.poll(sync.out).toContain('uploaded ')
    sync.kill('SIGINT')
    expect(await sync.ended).toMatchObject({ code: 3 })
    expect(sync.out()).toMatch(
      /\ninterrupted; \d+ pictures? uploaded; left: \d+ to upload(, \d+ uncertain)?\. "albumd sync" goes on\n$/,
    )
    expect(sync.out()).not.toContain('guarded')
    expect(sync.out().slice(sync.out().indexOf('stopping'))).not.toContain(' to send')
    const watch = startAlbumd(stage, ['status', '--watch'])
    const reports = () => watch.out().split(firstLineOf(watch.out())).length - 1
    await expect.poll(reports).toBeGreaterThan(1)
    watch.kill('SIGINT')
    await watch.ended
    expect(watch.out()).toContain(`\n\n${firstLineOf(watch.out())}`)
  })

  it('gives one summary object with --json', async () => {
    const stage = await setStage()
    stage.write('red.png', red)
    const { out, code } = await stage.here('sync', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ exit_code: 0, uploaded: 1, failed: 0, stopped: [] })
    expect(JSON.parse(out)).toMatchObject({ not_ready: [], interrupted: false })
    stage.write('empty.png', '')
    const path = join(stage.pictures, 'empty.png')
    const named = await stage.here('sync', '--json', path)
    expect(JSON.parse(named.out)).toMatchObject({
      exit_code: 3,
      not_ready: [{ path, code: 'NOT_READY', reason: expect.stringContaining('empty') }],
    })
  })

  it('reports what is no picture, and keeps the last image of a picture that became none', async () => {
    const stage = await setStage({ pictures: { 'red.png': red } })
    stage.write('red.png', 'no longer a picture')
    stage.write('never.jpg', 'never was one')
    const { code, out } = await stage.here('sync')
    expect(code).toBe(3)
    expect(out).toContain('failed never.jpg: File is no picture')
    expect(await stage.delivered()).toEqual({ 'Photos/red.png': sha256(red) })
    const { failures, mirrors } = await stage.status()
    expect(failures.map((failure: { path: string }) => failure.path).sort()).toEqual(['never.jpg', 'red.png'])
    expect(mirrors[0]).toMatchObject({ failed: 2, failed_with_image: 1, files: 2, synced: 0 })
    stage.write('red.png', green)
    rmSync(join(stage.pictures, 'never.jpg'))
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.delivered()).toEqual({ 'Photos/red.png': sha256(green) })
  })
})

function firstLineOf(text: string): string {
  return `${text.split('\n')[0]}\n`
}
