import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { daemonHere } from '../stage/process.ts'
import { setStage } from '../stage/stage.ts'

it('why makes no state, and tells a path in no mirror from one that is not there', async () => {
  const stage = await setStage()
  const [nowhere, outside] = await Promise.all([
    stage.albumd('why', 'nowhere.png'),
    stage.here('why', '/etc/passwd'),
  ])
  // As for ls and url.
  expect(nowhere).toMatchObject({ code: 2, out: '' })
  expect(nowhere.err).toContain('nowhere.png: No such file, and no record of one')
  expect(outside).toMatchObject({ code: 2, out: '' })
  expect(outside.err).toContain('lies in no mirror')
  expect(existsSync(join(stage.home, 'state'))).toBe(false)
})

it('why shows the state, the image, what happens next and the history, and its commands work', async () => {
  const stage = await setStage({ config: { deletions: { hold_above: '25%', hold_min: 1 } } })
  for (const n of [0, 1, 2]) stage.write(`it's/${n}.png`, png(2 + n, 2).bytes)
  await stage.pass()
  const database = join(stage.home, 'state/albumd.db')
  const before = readFileSync(database)
  const { out } = await stage.here('why', "./pictures/it's/0.png")
  expect(out).toMatch(/state {3}on the host/)
  expect(out).toMatch(/album {3}"Photos\/it's"/)
  expect(out).toMatch(/image {3}.*, uploaded, 20.* http/)
  expect(out).toMatch(/history .* uploaded/)
  expect(readFileSync(database)).toEqual(before)

  const loseTwo = async () => {
    for (const n of [0, 1]) rmSync(join(stage.pictures, `it's/${n}.png`))
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  }
  await loseTwo()
  const held = await stage.json('why', "it's/0.png")
  expect(held.state).toBe('gone')
  const [back, approve] = held.next.flatMap(({ command }: { command: string | null }) =>
    command === null ? [] : command.replace(/^albumd (.*)$/s, `$1 -c '${stage.config}'`),
  )
  expect(await stage.shell(back)).toMatchObject({ code: 0 })
  expect(readFileSync(join(stage.pictures, "it's/0.png"))).toEqual(png(2, 2).bytes)
  await loseTwo()
  expect(await stage.shell(approve)).toMatchObject({ code: 0 })
  await stage.pass()
  expect(await stage.json('why', "it's/0.png")).toMatchObject({ state: 'absent' })
})

it('why names the old images that a backup keeps, whose links still show an edited picture as it was', async () => {
  const stage = await setStage({ pictures: { 'a.png': png(3, 2).bytes }, mirror: { deletions: 'keep' } })
  const { image } = await stage.json('why', 'a.png')
  stage.write('a.png', png(4, 2).bytes)
  await stage.pass()
  const told = await stage.json('why', 'a.png')
  expect(told.image.image_id).not.toBe(image.image_id)
  expect(told.kept).toEqual([image])
  expect(await stage.json('why', image.cdn_url)).toEqual(told)
  for (const command of ['why', 'url'])
    expect(await stage.here(command, `${image.cdn_url}x`)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${image.cdn_url}x: No picture has this address`),
    })
  expect((await stage.here('why', 'a.png')).out).toContain(
    `old     stays for good: ${image.image_id}, uploaded`,
  )
})

it('why says of what a running albumd waits to be whole nothing else than that', async () => {
  const stage = await setStage()
  const daemon = await daemonHere(stage, ['--log-level', 'debug'])
  stage.write('half.png', png(40, 30).bytes.subarray(0, 600))
  const told = await daemon.told('picture_waits')
  expect(await stage.json('why', 'half.png')).toMatchObject({
    state: 'pending',
    next: [{ code: 'incomplete', cause: 'NOT_READY', at: expect.stringMatching(/^20/) }],
  })
  // What was found, in why, in status and in the log.
  const found = 'byte 600'
  expect((await stage.here('why', 'half.png')).out).toContain(found)
  expect((await stage.here('status')).out).toContain(found)
  expect(await stage.json('status')).toMatchObject({
    mirrors: [{ waits: [{ what: expect.stringContaining(found) }] }],
  })
  expect(told).toMatchObject({ message: expect.stringContaining(found) })
  stage.write('half.png', png(40, 30).bytes)
  await daemon.told('picture_uploaded')
  expect(await daemon.stop()).toBe(0)
})
