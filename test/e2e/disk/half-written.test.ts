import {
  appendFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatOfName } from '../../../src/protocol/formats.ts'
import { png } from '../../pictures.ts'
import { daemonHere } from '../stage/process.ts'
import { setStage, sha256 } from '../stage/stage.ts'

const SAMPLES = join(import.meta.dirname, '../../../src/cli/try/pictures')
const whole = png(40, 30, 9).bytes
const half = whole.subarray(0, 600)

describe('a picture of any format whose writer pauses', () => {
  it('is sent once, when it is whole', async () => {
    const stage = await setStage()
    const daemon = await daemonHere(stage, ['--log-level', 'debug'])
    await daemon.told('scan_finished')
    const samples = readdirSync(SAMPLES, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && formatOfName(entry.name))
      .map(({ parentPath, name }) => ({ name, bytes: readFileSync(join(parentPath, name)) }))
    const names = samples.map(({ name }) => name).sort()
    for (const { name, bytes } of samples)
      writeFileSync(join(stage.pictures, name), bytes.subarray(0, bytes.length >> 1))
    await expect.poll(() => [...new Set(daemon.paths('picture_waits'))].sort()).toEqual(names)
    // The settle time has long passed when another picture has gone by.
    stage.write('another.png', whole)
    await expect.poll(() => daemon.paths('picture_uploaded')).toEqual(['another.png'])
    for (const { name, bytes } of samples)
      appendFileSync(join(stage.pictures, name), bytes.subarray(bytes.length >> 1))
    await expect.poll(() => daemon.paths('picture_uploaded').sort()).toEqual([...names, 'another.png'].sort())
    expect(await daemon.stop()).toBe(0)
    const expected = samples.map(({ name, bytes }) => [`Photos/${name}`, sha256(bytes)])
    expect(await stage.delivered()).toEqual({
      ...Object.fromEntries(expected),
      'Photos/another.png': sha256(whole),
    })
  })
})

it('a picture that is finished under another name, and renamed, linked, or renamed over an older one, is sent once', async () => {
  const ways: Record<string, (from: string, to: string) => void> = {
    renamed: renameSync,
    linked(from, to) {
      linkSync(from, to)
      unlinkSync(from)
    },
    'renamed over': (from, to) => {
      writeFileSync(to, half)
      renameSync(from, to)
    },
  }
  const stage = await setStage()
  const daemon = await daemonHere(stage)
  await daemon.told('scan_finished')
  const names: string[] = []
  for (const [way, finish] of Object.entries(ways)) {
    for (const aside of ['.hidden', 'visible.part']) {
      const file = join(stage.pictures, aside)
      writeFileSync(file, half)
      appendFileSync(file, whole.subarray(half.length))
      names.push(`${way} ${aside}.png`)
      finish(file, join(stage.pictures, names.at(-1)!))
    }
    await expect.poll(() => daemon.paths('picture_uploaded').sort()).toEqual(names.toSorted())
  }
  expect(await daemon.stop()).toBe(0)
  const expected = names.map(name => [`Photos/${name}`, sha256(whole)])
  expect(await stage.delivered()).toEqual(Object.fromEntries(expected))
})

describe('a picture that stays incomplete', () => {
  const watch = { settle: '100ms', incomplete_after: '1s' }

  it('is reported by the daemon, and sent once it is whole', async () => {
    const stage = await setStage({ config: { watch } })
    stage.write('a.png', half)
    const daemon = await daemonHere(stage)
    await expect.poll(() => daemon.paths('picture_failed')).toEqual(['a.png'])
    expect(await stage.status()).toMatchObject({
      mirrors: [{ failed: 1, pending_uploads: 0 }],
      failures: [{ path: 'a.png', code: 'PICTURE_INCOMPLETE', next_attempt_at: null }],
    })
    appendFileSync(join(stage.pictures, 'a.png'), whole.subarray(half.length))
    await expect.poll(() => daemon.paths('picture_uploaded')).toEqual(['a.png'])
    expect(await daemon.stop()).toBe(0)
    expect(await stage.status()).toMatchObject({ failures: [] })
  })

  it('is sent as it is where the config says so', async () => {
    const stage = await setStage({ config: { watch: { ...watch, incomplete: 'send' } } })
    stage.write('a.png', half)
    const daemon = await daemonHere(stage)
    await expect.poll(() => daemon.paths('picture_uploaded')).toEqual(['a.png'])
    expect(await daemon.stop()).toBe(0)
    expect(await stage.delivered()).toEqual({ 'Photos/a.png': sha256(half) })
  })
})
