import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { because, inWords } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { drawn, segment } from '../../protocol/jpeg/jpegs.ts'
import { cameraTags, LITTLE, PLACES, tiffOf } from '../../protocol/stripped/samples.ts'
import { daemonHere } from '../stage/process.ts'
import { type Stage, setStage, sha256 } from '../stage/stage.ts'

const LOCATION = { uploads: { strip: 'location' }, deletions: { grace: '0' } }

/** A photo with its place, and with this text of its author's. */
const photo = (seed: number, author = 'Ada') =>
  drawn({ seed, before: segment(0xe1, 'Exif\0\0', tiffOf(LITTLE, { ...cameraTags(6), 37510: author })) })

/** All bytes that the host keeps. */
function bytesOnHost({ home }: Stage): Buffer {
  const files = readdirSync(join(home, 'host'), { recursive: true, withFileTypes: true })
  return Buffer.concat(
    files.filter(file => file.isFile()).map(file => readFileSync(join(file.parentPath, file.name))),
  )
}

/** What doctor finds of metadata on the host. */
async function metadataIn(stage: Stage) {
  const { findings } = await stage.json('doctor', '--all')
  return findings.filter(({ check }: { check: string }) => check === 'metadata')
}

const hasPlace = (bytes: Buffer) => PLACES.some(place => bytes.includes(place))

it('a daemon sends no place, and nothing anew for an edit of metadata, nor after its state was lost', async () => {
  const stage = await setStage({ config: LOCATION })
  stage.write('a.jpg', photo(1))
  stage.write('b.png', png(3, 2).bytes)
  const daemon = await daemonHere(stage)
  await daemon.told('picture_uploaded', 2)
  stage.write('a.jpg', photo(1, 'Grace'))
  await daemon.told('picture_unchanged')
  expect(await daemon.stop()).toBe(0)
  const before = await stage.listing()
  expect(before).toHaveLength(2)
  expect(hasPlace(photo(1))).toBe(true)
  expect(hasPlace(bytesOnHost(stage))).toBe(false)
  // A hash that is told is the file's.
  const own = [null, sha256(png(3, 2).bytes)]
  expect((await stage.json('ls')).pictures.map((one: { sha256: string }) => one.sha256)).toEqual(own)
  for (const [at, name] of ['a.jpg', 'b.png'].entries())
    expect((await stage.json('why', name)).sha256).toBe(own[at])

  const back = join(stage.home, 'back')
  const restored = await stage.here('restore', back, '--config', stage.config, '--json')
  expect(restored.code).toBe(0)
  expect(JSON.parse(restored.out)).toMatchObject({ restored: 2, stripped: 1, turned: 0 })
  expect(sha256(readFileSync(join(back, 'a.jpg')))).toBe((await stage.delivered())['Photos/a.jpg'])
  expect(sha256(readFileSync(join(back, 'b.png')))).toBe(sha256(png(3, 2).bytes))

  rmSync(join(stage.home, 'state'), { recursive: true })
  await stage.pass()
  expect(await stage.listing()).toEqual(before)
})

it('what a restore has written into the mirror counts as sent', async () => {
  const stage = await setStage({ config: LOCATION, pictures: { 'a.jpg': photo(1), 'b.jpg': photo(2) } })
  const before = await stage.listing()
  rmSync(join(stage.pictures, 'a.jpg'))
  const back = await stage.here('restore', stage.pictures, '--at', '0s', '--config', stage.config)
  expect(back.code).toBe(0)
  expect(hasPlace(readFileSync(join(stage.pictures, 'a.jpg')))).toBe(false)
  expect(hasPlace(readFileSync(join(stage.pictures, 'b.jpg')))).toBe(true)
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0 })
  expect(await stage.listing()).toEqual(before)
})

it('older images are counted, and sent anew when a person asks; their old images go', async () => {
  const stage = await setStage({ pictures: { 'a.jpg': photo(1), 'b.png': png(3, 2).bytes } })
  const doctor = () => metadataIn(stage)
  expect(await doctor()).toEqual([])
  const refused = await stage.here('retry', '--strip', '--config', stage.config)
  expect(refused.code).not.toBe(0)
  stage.configure(LOCATION)
  await stage.pass()
  expect(hasPlace(bytesOnHost(stage))).toBe(true)
  expect(await doctor()).toMatchObject([{ status: 'warn', message: expect.stringContaining('2 images') }])
  expect(await stage.asked('retry', { strip: true })).toMatchObject({ stopped: [] })
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await doctor()).toMatchObject([{ status: 'pass' }])
  expect(await stage.paths()).toEqual(['Photos/a.jpg', 'Photos/b.png'])
  expect(hasPlace(bytesOnHost(stage))).toBe(false)
})

it('an adopted image that has metadata is told and counted, and sent anew when a person asks', async () => {
  const stage = await setStage({ pictures: { 'a.jpg': photo(1) } })
  rmSync(join(stage.home, 'state'), { recursive: true })
  stage.configure(LOCATION)
  // A new picture shows how addresses look, so that the old image is compared.
  stage.write('b.png', png(3, 2).bytes)
  await stage.pass()
  await stage.pass()
  const words = inWords(because('had_metadata'))
  expect(JSON.stringify(await stage.json('why', join(stage.pictures, 'a.jpg')))).toContain(words)
  expect(await metadataIn(stage)).toMatchObject([{ message: expect.stringContaining('1 image') }])
  expect(hasPlace(bytesOnHost(stage))).toBe(true)
  expect(await stage.asked('retry', { strip: true })).toMatchObject({ stopped: [] })
  await stage.pass()
  expect(await metadataIn(stage)).toMatchObject([{ status: 'pass' }])
  expect(await stage.paths()).toEqual(['Photos/a.jpg', 'Photos/b.png'])
  expect(hasPlace(bytesOnHost(stage))).toBe(false)
})

it('an image that no picture uses counts for as long as it is on the host', async () => {
  const stage = await setStage({ pictures: { 'a.jpg': photo(1) }, mirror: { deletions: 'keep' } })
  stage.configure(LOCATION)
  await stage.asked('retry', { strip: true })
  expect(await metadataIn(stage)).toMatchObject([
    {
      status: 'warn',
      message: expect.stringContaining('1 image'),
      remedy: expect.not.stringContaining('retry'),
    },
  ])
})
