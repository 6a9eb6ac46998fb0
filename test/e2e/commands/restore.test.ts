import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { unreadable } from '../../../src/config/paths.ts'
import {
  type Recorded,
  type RecordedPicture,
  recordPictures,
  treeOf,
} from '../../daemon/recorded-pictures.ts'
import { asNobody } from '../../nobody.ts'
import { png } from '../../pictures.ts'
import { deadOrigin, json, serve } from '../../remote/serve.ts'
import { canMount, mountSmallDisk, type SmallDisk } from '../disk/small-disk.ts'
import { daemonHere, startAlbumd } from '../stage/process.ts'
import { type Run, runHere, setStage } from '../stage/stage.ts'

const picture = (n: number) => png(2 + n, 2).bytes
const stageOf = ({ home, configFile }: Recorded) => ({ home, config: configFile })

/** The same as a process where the disk is mounted. */
async function runThrough(
  recorded: Recorded,
  args: string[],
  { through }: Pick<SmallDisk, 'through'>,
): Promise<Run> {
  const child = startAlbumd(stageOf(recorded), ['restore', ...args], { through })
  const { code } = await child.ended
  return { code: code ?? -1, out: child.out(), err: child.err() }
}

const run = ({ home, config }: { home: string; config: string }, args: string[]): Promise<Run> =>
  runHere(['restore', ...args, '--config', config], home)

const isAsked = ({ asked }: Recorded, path: string) => expect.poll(() => asked).toContain(path)

describe('restore', () => {
  it('brings back from a real host what is there, beside a daemon and without the key', async () => {
    const stage = await setStage({ config: { deletions: { grace: '0', hold_min: 100 } } })
    for (const [n, path] of [
      'top.png',
      'a/same.png',
      'a/b/c/same.png',
      'a b/Früh\nam Morgen.png',
    ].entries()) {
      stage.write(path, picture(n))
      utimesSync(join(stage.pictures, path), 1_500_000_000 + n, 1_500_000_000.123456 + n)
    }
    stage.write('a/gone.png', picture(10))
    stage.write('top.png', picture(11))
    const daemon = await daemonHere(stage)
    await daemon.told('scan_finished')
    await daemon.told('picture_uploaded', 5)
    stage.write('top.png', picture(12))
    rmSync(join(stage.pictures, 'a/gone.png'))
    await daemon.told('image_deleted', 2)
    rmSync(join(stage.home, 'api-key'))

    const back = join(stage.home, 'back')
    const restored = await run(stage, [back])
    expect(restored).toMatchObject({ code: 0, err: '' })
    expect(restored.out.trimEnd().split('\n').at(-1)).toMatch(/^4 pictures restored \(.*\)$/)
    expect(treeOf(back)).toEqual(treeOf(stage.pictures))
    for (const path of Object.keys(treeOf(back)))
      expect(readFileSync(join(back, path))).toEqual(readFileSync(join(stage.pictures, path)))
    expect(await run(stage, [back])).toMatchObject({ code: 2, err: expect.stringContaining('not empty') })
    expect(await daemon.stop()).toBe(0)
  })

  it('goes on after SIGKILL in the middle of a picture, and says in JSON what is missing', async () => {
    const pictures: RecordedPicture[] = Array.from({ length: 12 }, (_, n) => ({
      path: `${'abc'[n % 3]}/${n}.png`,
      bytes: `${n}`.padEnd(100_000, 'x'),
    }))
    // It waits in the middle of that one until it is killed, however long a busy machine takes to do so.
    const recorded = await recordPictures(pictures, {
      timeout: '60s',
      config: { uploads: { concurrency: 1 } },
    })
    recorded.answers.set('b/4.png', (response, bytes) => {
      response.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, 60_000))
    })
    const back = join(recorded.home, 'back')
    const own = join(back, '.albumd-restore')
    const first = startAlbumd(stageOf(recorded), ['restore', back])
    await isAsked(recorded, 'b/4.png')
    // Half of it is on the disk, under no name of its own.
    await expect.poll(() => readdirSync(own).map(name => statSync(join(own, name)).size)).toContain(60_000)
    first.kill('SIGKILL')
    expect(await first.ended).toMatchObject({ signal: 'SIGKILL' })
    expect(existsSync(join(back, 'b/4.png'))).toBe(false)
    const before = Object.keys(treeOf(back)).length - 2

    recorded.answers.set('b/4.png', response => void response.writeHead(404).end())
    const second = await run(stageOf(recorded), [back, '--json'])
    expect(second.code).toBe(3)
    expect(JSON.parse(second.out)).toMatchObject({
      problems: [{ path: 'b/4.png', code: 'NOT_FOUND' }],
      exit_code: 3,
      there: before,
      restored: 11 - before,
      missing: 1,
    })
    recorded.answers.delete('b/4.png')
    expect(await run(stageOf(recorded), [back])).toMatchObject({ code: 0 })
    expect(Object.keys(treeOf(back)).sort()).toEqual(pictures.map(({ path }) => path).sort())
    for (const { path, bytes } of pictures) expect(treeOf(back)[path]![0]).toBe(bytes)
  })

  it('says why a picture could not be uploaded, and offers another try only where one may help', async () => {
    const stage = await setStage({ pictures: { 'one.png': picture(1) } })
    stage.write('text.png', 'no picture')
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    const failed = await run(stage, [join(stage.home, 'back')])
    expect(failed.code).toBe(3)
    const { message } = (await stage.status()).failures[0]
    const line = `\nmissing text.png: not uploaded. ${message} (UPLOAD_FAILED)\n`
    expect(failed.out).toContain(line)
    expect(failed.out).not.toContain('once more')

    // A picture that is perhaps still being written waits for its upload.
    stage.write('half.png', picture(2).slice(0, 40))
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    const waiting = await run(stage, [join(stage.home, 'back')])
    expect(waiting.out).toContain(line)
    expect(waiting.out).toContain(
      '\nmissing half.png: not on the host yet, as far as is known (NOT_ON_HOST)\n',
    )
    expect(waiting.out).toContain('\nthe same command tries what is missing once more\n')
  })

  it('names pictures as they lie below the folder, and offers no other try for what the host does not have', async () => {
    const recorded = await recordPictures(
      [
        { path: 'one.png', bytes: '1' },
        { path: 'deep/lost.png', bytes: '2', mirror: 1 },
        { path: 'two.png', bytes: '3', mirror: 1 },
      ],
      { mirrors: ['A', 'B'] },
    )
    recorded.answers.set('deep/lost.png', response => void response.writeHead(404).end())
    const { code, out } = await run(stageOf(recorded), [join(recorded.home, 'back')])
    expect(code).toBe(3)
    expect(out.trimEnd().split('\n').sort()).toEqual([
      '1 picture missing: the lines that begin with "missing" say why',
      '2 pictures restored (2 B), of 3 in all',
      '3 pictures to restore (3 B)',
      'missing B/deep/lost.png: the host does not have the image (404) (NOT_FOUND)',
      'restored A/one.png (1 B)',
      'restored B/two.png (1 B)',
    ])
  })

  it('says that what waits for its upload may be among the deleted pictures under its old name', async () => {
    const told = async (...more: Parameters<typeof recordPictures>[0]) => {
      const recorded = await recordPictures([{ path: 'old.png', bytes: 'old', state: 'gone' }, ...more])
      return (await run(stageOf(recorded), [join(recorded.home, 'back')])).out
    }
    const rest = 'and still on the host; --deleted restores them too\n'
    expect(await told({ path: 'new.png', bytes: 'new', state: 'pending', image: null })).toContain(
      `\n1 picture left out: deleted or perhaps renamed here, ${rest}`,
    )
    expect(await told({ path: 'there.png', bytes: 'there' })).toContain(
      `\n1 picture left out: deleted here ${rest}`,
    )
  })

  it('tells a file that it may not read from a missing one, in a mirror and in a folder of its own', async () => {
    await asNobody(async () => {
      const recorded = await recordPictures(
        ['a.png', 'closed/b.png', 'c.png'].map(path => ({ path, bytes: path })),
      )
      const mirror = recorded.config.mirrors[0]!.folder
      const mayNot = unreadable('EACCES')
      mkdirSync(join(mirror, 'closed'), { mode: 0 })
      writeFileSync(join(mirror, 'c.png'), 'c.png', { mode: 0 })
      const then = await run(stageOf(recorded), [mirror, '--at', new Date().toISOString()])
      expect(then).toMatchObject({ code: 3, err: '' })
      expect(then.out.split('\n').sort()).toEqual(
        expect.arrayContaining([
          `unread c.png: the file there ${mayNot} (NOT_READ)`,
          `unread closed/b.png: its folder ${mayNot} (NOT_READ)`,
          '1 picture restored (5 B), of 3 in all',
          expect.stringMatching(/^as it was at .*, except for what is unread$/),
          '2 pictures unread: the lines that begin with "unread" say why',
        ]),
      )
      expect(then.out).not.toMatch(/^missing/m)

      recorded.answers.set('a.png', response => void response.writeHead(403).end())
      const back = join(recorded.home, 'back')
      expect(await run(stageOf(recorded), [back])).toMatchObject({
        code: 3,
        out: expect.stringContaining('\nthe same command tries what is missing once more\n'),
      })
      chmodSync(join(back, 'c.png'), 0)
      utimesSync(join(back, 'c.png'), 5, 5)
      recorded.answers.delete('a.png')
      const again = await run(stageOf(recorded), [back, '--json'])
      expect(JSON.parse(again.out)).toMatchObject({
        problems: [{ path: 'c.png', code: 'NOT_READ' }],
        exit_code: 3,
        restored: 1,
        there: 1,
        missing: 0,
        unread: 1,
      })
      chmodSync(join(back, 'c.png'), 0o600)
      expect(await run(stageOf(recorded), [back])).toMatchObject({ code: 0 })
    })
  })

  it.skipIf(!canMount() && !process.env.CI)(
    'stops at a full disk in a line, and goes on once there is room',
    async () => {
      const pictures: RecordedPicture[] = Array.from({ length: 6 }, (_, n) => ({
        path: `${n}.png`,
        bytes: `${n}`.padEnd(200_000, 'x'),
      }))
      const recorded = await recordPictures(pictures, { config: { uploads: { concurrency: 1 } } })
      const disk = await mountSmallDisk(join(recorded.home, 'small'), '3m')
      recorded.answers.set('3.png', (response, bytes) => {
        disk.fill()
        response.end(bytes)
      })
      const back = join(recorded.home, 'small/back')
      const full = await runThrough(recorded, [back], disk)
      expect(full.code).toBe(3)
      expect(full.err.trimEnd().split('\n')).toEqual([
        expect.stringMatching(/the disk is full; make room there, then run the same command again/),
      ])
      expect(full.out).toMatch(/3 pictures restored \(.*\), of 6 in all\n/)
      expect(full.out).toContain('\n3 pictures not tried yet\n')
      disk.free()
      recorded.answers.delete('3.png')
      recorded.asked.length = 0
      expect(await runThrough(recorded, [back], disk)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/3 pictures restored .*, 3 there already/),
      })
      expect(recorded.asked).toEqual(['3.png', '4.png', '5.png'])
    },
  )
})

describe('restore --from-host', () => {
  it('proves by its hash what is recorded, and is refused beside a daemon', async () => {
    const stage = await setStage({ pictures: { 'a/one.png': picture(1) } })
    utimesSync(join(stage.pictures, 'a/one.png'), 1_500_000_000, 1_500_000_000.123456)
    const daemon = await daemonHere(stage)
    await daemon.told('scan_finished')
    expect(await run(stage, [join(stage.home, 'back'), '--from-host'])).toMatchObject({ code: 4 })
    expect((await stage.albumd('restore', '--help')).out.replace(/\s+/g, ' ')).toContain(
      'stop albumd run first',
    )
    await daemon.stop()
    const restored = await run(stage, [join(stage.home, 'back'), '--from-host'])
    expect(restored).toMatchObject({ code: 0, err: '' })
    expect(restored.out).toContain('\n1 picture proved by their recorded hashes\n')
    expect(treeOf(join(stage.home, 'back'))['Photos/a/one.png']).toEqual(treeOf(stage.pictures)['a/one.png'])
    expect(await run(stage, [join(stage.home, 'else'), '--from-host', '--deleted'])).toMatchObject({
      code: 2,
    })
  })

  it('says by its exit code why the host could not be asked, and leaves no mark in the folder', async () => {
    const stage = await setStage({ pictures: { 'one.png': picture(1) } })
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    rmSync(join(stage.home, 'state'), { recursive: true })
    const refusing = (status: number, code: string) =>
      serve((_, response) => json(response, status, { success: false, error: 'No', code }))
    const back = join(stage.home, 'back')
    for (const [origin, code, next] of [
      [await refusing(401, 'INVALID_API_KEY'), 5, `; check host.api_key_file (${stage.home}/api-key)`],
      [await refusing(403, 'PLAN_NOT_SUPPORTED'), 5, ''],
      [await deadOrigin(), 3, ''],
    ] as const) {
      stage.configure({ host: { base_url: `${origin}/api/v1`, api_key_file: 'api-key' } })
      const refused = await run(stage, [back, '--from-host'])
      expect(refused.code).toBe(code)
      expect(refused.err).toContain('The host could not be asked what it holds')
      expect(refused.err).toContain(`${next}\n`)
      expect(readdirSync(back)).toEqual([])
    }
    stage.configure({ host: { base_url: stage.baseUrl, api_key_file: 'api-key' } })
    expect(await run(stage, [back, '--from-host'])).toMatchObject({ code: 0 })
  })
})
