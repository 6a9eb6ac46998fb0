import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { recordPictures } from '../../daemon/recorded-pictures.ts'
import { png } from '../../pictures.ts'
import { runHere, setStage, sha256 } from '../stage/stage.ts'

const PATHS = ['top.png', 'a/one.png', 'a/deep/two.png', 'a b/one.png']
const PICTURES = Object.fromEntries(PATHS.map((path, n) => [path, png(2 + n, 2).bytes]))

it('ls lists all, a folder or a picture, with addresses that give its bytes', async () => {
  const stage = await setStage({ pictures: PICTURES })
  const before = readFileSync(join(stage.home, 'state/albumd.db'))
  const table = await stage.albumd('ls')
  const all = await stage.here('ls', '--format', 'json')
  const folder = await stage.here('ls', 'a', '--format', 'url')
  const one = await stage.here('ls', './pictures/a b/one.png')
  const nowhere = await stage.here('ls', 'nowhere')
  const outside = await stage.here('ls', '/etc')
  const listed: { path: string; cdn_url: string; sha256: string; album: string }[] = JSON.parse(all.out)
  expect(listed.map(({ path, album }) => [path.slice(stage.pictures.length), album])).toEqual([
    ['/top.png', 'Photos'],
    ['/a/one.png', 'Photos/a'],
    ['/a b/one.png', 'Photos/a b'],
    ['/a/deep/two.png', 'Photos/a/deep'],
  ])
  for (const { path, cdn_url: url, sha256: hash } of listed) {
    const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer())
    expect([sha256(bytes), hash]).toEqual([sha256(readFileSync(path)), sha256(bytes)])
  }
  expect(folder).toMatchObject({ code: 0, err: '', out: `${listed[1]!.cdn_url}\n${listed[3]!.cdn_url}\n` })
  expect(one.out).toMatch(/^PATH .*\na b\/one\.png +synced +\d+ B +http\S+\n$/)
  expect(table.out.split('\n')).toHaveLength(6)
  expect(table.out).not.toContain('\u001b')
  expect(nowhere).toMatchObject({
    code: 2,
    out: '',
    err: `albumd: ${stage.pictures}/nowhere: No such file, and no record of one\n`,
  })
  expect(outside).toMatchObject({ code: 2, out: '', err: expect.stringContaining('lies in no mirror') })
  expect(readFileSync(join(stage.home, 'state/albumd.db'))).toEqual(before)
})

it('ls of a path that has nothing on the host says why, as why does', async () => {
  const stage = await setStage({ pictures: { 'old/one.png': png(2, 2).bytes } })
  renameSync(join(stage.pictures, 'old'), join(stage.pictures, 'new'))
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  stage.write('waits.png', png(3, 2).bytes)
  for (const [path, why] of [
    ['waits.png', 'new: there, and no scan has seen it yet'],
    ['old', 'not there: the folder is gone; of the images of its pictures 1 was deleted'],
    ['old/one.png', 'not there: the image was deleted ('],
  ] as const)
    expect(await stage.here('ls', path)).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining(`albumd: Nothing is listed for ${path} (${why}`),
    })
  const json = await stage.here('ls', 'waits.png', '--json')
  expect(JSON.parse(json.out)).toMatchObject({ pictures: [] })
})

it('url gives one address, and says why it has none', async () => {
  const image = { path: 'a/two.png', bytes: 'two' }
  const { home, configFile, addressOf } = await recordPictures([
    image,
    { path: 'older.png', bytes: 'before', state: 'pending', changed: true },
    { path: 'unsent.png', bytes: 'x', state: 'pending', image: null },
    { path: 'doubt.png', bytes: 'y', state: 'uncertain', image: null },
  ])
  const pictures = join(home, 'pictures')
  const url = (...args: string[]) => runHere(['url', ...args, '--config', configFile], home)

  const given = await url('a/two.png')
  expect(given).toEqual({ code: 0, err: '', out: `${addressOf('a/two.png')}\n` })
  const told = await url('a/two.png', '--json')
  expect(told.code).toBe(0)
  expect(JSON.parse(told.out)).toMatchObject({ cdn_url: addressOf('a/two.png') })
  const older = await url('older.png')
  const olderImage = { out: expect.stringMatching(/^http/), err: expect.stringContaining('older') }
  expect(older).toMatchObject({ code: 3, ...olderImage })
  const unsent = await url('unsent.png')
  const why = (name: string) => expect.stringContaining(`"albumd why ${pictures}/${name}" tells `)
  expect(unsent).toMatchObject({ code: 3, out: '', err: expect.stringContaining('gone from the disk') })
  const doubt = await url('doubt.png', '--json')
  expect(doubt.code).toBe(3)
  expect(JSON.parse(doubt.out).error.message).toEqual(why('doubt.png'))
  expect(JSON.parse(doubt.out).error.message).toContain('is not known')
  const folder = await url('a')
  expect(folder).toMatchObject({ code: 2, out: '', err: expect.stringContaining('is a folder') })
  for (const { err } of [given, older, unsent, folder]) expect(err.trimEnd().split('\n')).toHaveLength(1)
})

it('url promises nothing of what will never come', async () => {
  const stage = await setStage({
    pictures: { 'a.png': png(3, 2).bytes, 'b.png': png(4, 2).bytes, 'c.png': png(5, 2).bytes },
    mirror: { ignore: ['out.png'] },
  })
  renameSync(join(stage.pictures, 'a.png'), join(stage.pictures, 'moved.png'))
  rmSync(join(stage.pictures, 'b.png'))
  stage.write('out.png', png(6, 2).bytes)
  stage.write('empty.png', '')
  await stage.pass()
  const told = async (path: string) => {
    const { code, out } = await stage.here('url', path, '--json')
    const { error } = JSON.parse(out)
    return [code, error.cause, error.message]
  }
  for (const [path, cause] of [
    ['a.png', 'MOVED'],
    ['b.png', 'GONE'],
    ['out.png', 'LEFT_OUT'],
    ['empty.png', 'NOT_READY'],
  ] as const)
    expect(await told(path)).toEqual([3, cause, expect.stringContaining(`${path} is not on the host: `)])
})

it('a name that a Mac wrote is found by what a keyboard types, unless a file has just that name', async () => {
  const path = 'Köln/Brücke.png'
  const stage = await setStage({ pictures: { [path.normalize('NFD')]: png(3, 2).bytes } })
  const url = await stage.here('url', path)
  expect(url.out).toMatch(/^http/)
  for (const line of [
    ['why', path],
    ['ls', 'Köln', '--format', 'url'],
    ['put', join(stage.pictures, path)],
  ])
    expect(await stage.here(...line)).toMatchObject({ code: 0, out: expect.stringContaining(url.out) })
  const retried = await stage.here('retry', join(stage.pictures, path))
  expect(retried.err).toContain(`below ${stage.pictures}/${path.normalize('NFD')}`)
  stage.write(path, png(4, 2).bytes)
  expect((await stage.here('why', path)).out).toContain('no scan has seen it yet')
})

it('ls --left-out names a dozen kinds, and one more', async () => {
  const stage = await setStage()
  const last = async () => (await stage.here('ls', '--left-out')).out.trimEnd().split('\n').at(-1)
  for (let n = 10; n < 23; n++) stage.write(`a.k${n}`, 'x')
  const dozen = Array.from({ length: 12 }, (_, n) => `1 K${n + 10}`).join(', ')
  expect(await last()).toContain(`left out: 13 (${dozen}, 1 K22); the host takes png, jpg, `)
  stage.write('a.k23', 'x')
  expect(await last()).toContain(`left out: 14 (${dozen}, …)`)
})

it('ls --left-out names what is not mirrored, and why', async () => {
  const stage = await setStage({ mirror: { ignore: ['*.bak.png'] } })
  const picture = png(3, 2).bytes
  for (const path of ['a.png', 'x.bak.png', 'b/@eaDir/t.png', 'b/Private/p.png', 'b/ok.png'])
    stage.write(path, picture)
  stage.write('IMG_1.HEIC', 'x')
  stage.write('b/empty.png', '')
  symlinkSync('nowhere', join(stage.pictures, 'b/link.png'))
  stage.write('b/.albumdignore', 'Private/\n')
  const whyOf = async (...args: string[]) => {
    const { code, out } = await stage.here('ls', '--left-out', '--json', ...args)
    expect(code).toBe(0)
    const { schema, left_out } = JSON.parse(out)
    expect(schema).toBe(1)
    return left_out.map(({ path, why }: Record<string, string>) => [
      path!.slice(stage.pictures.length + 1),
      why,
    ])
  }
  const ofB = [
    ['b/@eaDir', 'ignored'],
    ['b/Private', 'ignored'],
    ['b/empty.png', 'empty'],
    ['b/link.png', 'links'],
  ]
  expect(await whyOf()).toEqual([['IMG_1.HEIC', 'format'], ...ofB, ['x.bak.png', 'ignored']])
  expect(await whyOf('b')).toEqual(ofB)
  expect(await whyOf('b/Private/p.png')).toEqual([['b/Private', 'ignored']])
  expect(await whyOf('b/ok.png')).toEqual([])
  const { out } = await stage.here('ls', '--left-out')
  const lines = out.trimEnd().split('\n')
  expect(lines).toHaveLength(8)
  const heic = `${stage.pictures}/IMG_1.HEIC: HEIC is none of the formats that the host takes`
  expect(lines).toContain(heic)
  expect(lines.at(-2)).toContain('convert: [heic]')
  expect(lines.at(-1)).toContain('left out: 6 (3 ignored, 1 HEIC, 1 empty, 1 link or special file)')
  // The first pass and the plan count by the same rule.
  const told =
    'Left out: 6 (3 ignored, 1 HEIC, 1 empty, 1 link or special file). "albumd ls --left-out" says why'
  const planned = await stage.here('sync', '--dry-run')
  expect(planned.out).toContain(told)
  expect((await stage.here('sync')).out).toContain(told)
  expect((await stage.here('status')).out).toContain(
    'left out: 1 of another format, 3 ignored, 1 empty, 1 link or special file\n',
  )
})

it('a name means the file in the working folder first, and another picture of that name in a mirror is not taken for it', async () => {
  const stage = await setStage({
    pictures: { 'shot.png': png(2, 2).bytes, 'sub/shot.png': png(3, 2).bytes },
  })
  const inMirror = await stage.here('url', 'shot.png')
  expect(inMirror).toMatchObject({ code: 0, out: expect.stringMatching(/^http/) })
  const sub = (...args: string[]) =>
    runHere([...args, '--config', stage.config], join(stage.pictures, 'sub'), { HOME: stage.home })
  const inSub = await stage.here('url', 'sub/shot.png')
  expect(await sub('url', 'shot.png')).toEqual(inSub)
  expect(inSub.out).not.toBe(inMirror.out)
  writeFileSync(join(stage.home, 'shot.png'), png(4, 2).bytes)
  for (const command of ['url', 'put', 'why', 'sync'])
    expect(await stage.here(command, 'shot.png')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(`albumd: ${stage.home}/shot.png lies in no mirror`),
    })
})
