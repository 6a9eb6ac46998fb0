import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { setFaultStage } from '../stage/fault-stage.ts'
import { setStage } from '../stage/stage.ts'

it('sync PATH sends and deletes nothing of what waits elsewhere', async () => {
  const names = ['a/1', 'a/2', 'b/1', 'b/2']
  const pictures = Object.fromEntries(names.map((name, n) => [`${name}.png`, png(3 + n, 2).bytes]))
  const stage = await setStage({ pictures })
  expect(await stage.here('pause')).toMatchObject({ code: 0 })
  for (const path of ['a/1.png', 'b/1.png']) rmSync(join(stage.pictures, path))
  stage.write('a/new/3.png', png(7, 2).bytes)
  stage.write('b/2.png', png(8, 2).bytes)
  stage.write('b/3.png', png(9, 2).bytes)
  // What a pass finds while albumd is paused waits.
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  expect(await stage.here('resume')).toMatchObject({ code: 0 })
  const { code, out } = await stage.here('sync', 'a')
  // What waits elsewhere was not asked for.
  expect(code).toBe(0)
  expect(out).toMatch(/^1 picture to send \(/m)
  expect(out).toMatch(/^1 picture uploaded, 1 image deleted$/m)
  expect(out).not.toMatch(/b\/[23]\.png|uploads go on/)
  const listed = (...paths: string[]) => paths.map(path => `Photos/${path}.png`)
  expect(await stage.paths()).toEqual(listed('a/2', 'a/new/3', 'b/1', 'b/2'))
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await stage.paths()).toEqual(listed('a/2', 'a/new/3', 'b/2', 'b/3'))
})

it('sync PATH tells what is left of the paths, and of nothing beside them', async () => {
  const stage = await setStage()
  for (const path of ['a/bad.png', 'ab/bad.png']) stage.write(path, 'no picture')
  stage.write('a/good.png', png(3, 2).bytes)
  stage.write('b.png', png(4, 2).bytes)
  const left = async (...paths: string[]) => {
    const { exit_code, left } = await stage.json('sync', ...paths)
    expect(exit_code).toBe(left.failed > 0 ? 3 : 0)
    return left.failed
  }
  expect(await left()).toBe(2)
  for (const path of ['a/good.png', 'b.png']) expect(await left(path)).toBe(0)
  for (const paths of [['a'], ['a/bad.png'], ['a', 'a/bad.png', 'b.png']])
    expect(await left(...paths)).toBe(1)
  stage.write('new.png', 'no picture')
  const named = await stage.here('sync', 'a/bad.png', 'new.png')
  expect(named.code).toBe(3)
  expect(named.out).toContain('failed new.png: ')
  for (const path of ['new.png', 'b.png']) rmSync(join(stage.pictures, path))
  expect(await left('new.png')).toBe(0)
  expect(await left(stage.pictures)).toBe(2)
  expect(await left('a/good.png', 'b.png')).toBe(0)
  expect(await stage.paths()).toEqual(['Photos/a/good.png'])
})

it('sync asks no host where nothing is left, unless the host was away before', async () => {
  const stage = await setFaultStage({ before: ({ write }) => write('a/1.png', png(3, 2).bytes) })
  stage.proxy.fail('list', 'each', 'refuse')
  const asked = stage.proxy.log.length
  expect(await stage.json('sync', 'a')).toMatchObject({ exit_code: 0, stopped: [] })
  expect((await stage.here('sync', 'a/1.png')).out).toMatch(/^nothing to do: what was named is in sync$/m)
  expect(await stage.json('sync')).toMatchObject({ exit_code: 0, stopped: [] })
  expect(stage.proxy.log).toHaveLength(asked)
  stage.proxy.fail('upload', 'each', 'refuse')
  stage.write('a/2.png', png(4, 2).bytes)
  const away = { exit_code: 3, stopped: [{ code: 'HOST_UNREACHABLE' }] }
  expect(await stage.json('sync')).toMatchObject(away)
  rmSync(join(stage.pictures, 'a/2.png'))
  expect(await stage.json('sync')).toMatchObject(away)
})

it('a command says first that the host is away and what then goes on, and what is left after that', async () => {
  const stage = await setFaultStage({ before: ({ write }) => write('a/1.png', png(3, 2).bytes) })
  stage.write('a/2.png', png(4, 2).bytes)
  for (const endpoint of ['list', 'upload'] as const) stage.proxy.fail(endpoint, 'each', 'refuse')
  const away = String.raw`^albumd: Cannot reach \S+ \([^()]+\) \(HOST_UNREACHABLE\); run "albumd`
  const { err } = await stage.here('retry', '--quiet')
  expect(err).toMatch(new RegExp(`${away} retry" again later, or "albumd run".*\n.*; left: 1 to upload`))
  expect(await stage.here('retry', 'a')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^albumd: Nothing failed at or below a\./),
  })
  expect((await stage.here('audit')).err).toMatch(new RegExp(`${away} audit" again later`))
})

it('sync PATH refuses what is left out, as put does, and names an empty file', async () => {
  const stage = await setStage({ pictures: { 'a.png': png(3, 2).bytes }, mirror: { ignore: ['out.png'] } })
  symlinkSync(join(stage.pictures, 'a.png'), join(stage.pictures, 'link.png'))
  stage.write('notes.txt', 'x')
  stage.write('out.png', png(4, 2).bytes)
  stage.write('empty.png', '')
  for (const path of ['link.png', 'notes.txt', 'out.png']) {
    const put = await stage.here('put', join(stage.pictures, path))
    expect(put).toMatchObject({ code: 2, out: '', err: expect.stringContaining(`${path} is left out: `) })
    expect(await stage.here('sync', path)).toEqual(put)
  }
  const empty = await stage.here('sync', 'empty.png')
  expect(empty).toMatchObject({ code: 3, err: expect.stringMatching(/\/empty\.png: .*empty/) })
  expect(empty.out).not.toContain('in sync')
  expect(await stage.json('sync', 'empty.png')).toMatchObject({ exit_code: 3 })
  expect(await stage.here('sync', '--prune-ignored', 'out.png')).toMatchObject({ code: 0 })
})
