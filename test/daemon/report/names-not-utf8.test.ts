import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isKnownAt, locationsOf } from '../../../src/daemon/report/mirrored-pictures.ts'
import { type Status, statusOf } from '../../../src/daemon/report/status.ts'
import { because, inWords } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { type Asked, asked } from './asked.ts'

const PERHAPS_RENAMED = inWords(because('perhaps_renamed'))

interface BadName extends Asked {
  bad: Buffer
  mirrorNow(): Status['mirrors'][number]
}

/** Three recorded pictures in a folder with a name that is not UTF-8. One was deleted since, and one renamed. */
async function withBadName(): Promise<BadName> {
  const at = await asked()
  const { config, synced, pictures } = at
  for (const n of [0, 1, 2]) at.write(`a/${n}.png`, png(2 + n, 2).bytes)
  await at.pass()
  rmSync(join(pictures, 'a/0.png'))
  renameSync(join(pictures, 'a/1.png'), join(pictures, 'a/renamed.png'))
  const bad = Buffer.concat([Buffer.from(`${pictures}/a/bad`), Buffer.from([0xff]), Buffer.from('.png')])
  writeFileSync(bad, png(9, 9).bytes)
  return { ...at, bad, mirrorNow: () => statusOf(config, synced, false, Date.now()).mirrors[0]! }
}

it('a picture that is missing beside a name that is not UTF-8 is neither left out nor gone', async () => {
  const at = await withBadName()
  await at.pass()
  for (const path of ['a/0.png', 'a/1.png']) {
    const { state, reason, image, history } = at.why(path)
    expect({ state, reason }).toEqual({ state: 'hidden', reason: PERHAPS_RENAMED })
    expect(image).not.toBeNull()
    expect(history.at(-1)).toMatchObject({ event: 'left_out', detail: PERHAPS_RENAMED })
  }
  expect(at.mirrorNow()).toMatchObject({ left_out_with_image: 2 })

  renameSync(at.bad, join(at.pictures, 'a/good.png'))
  await at.pass()
  expect(at.mirrorNow()).toMatchObject({ files: 3, synced: 3, left_out_with_image: 0 })
  expect(at.why('a/0.png').state).toBe('absent')
})

it('a folder that is missing beside such a name, and all in it, are neither left out nor gone', async () => {
  const at = await withBadName()
  at.write('a/b/p.png', png(12, 2).bytes)
  await at.pass()
  rmSync(join(at.pictures, 'a/b'), { recursive: true })
  await at.pass()
  expect(at.why('a/b/p.png')).toMatchObject({ state: 'hidden', reason: PERHAPS_RENAMED })
  expect(at.mirrorNow()).toMatchObject({ left_out_with_image: 3 })
})

it('a picture with a name that is not UTF-8 counts as a picture and as failed', async () => {
  const at = await withBadName()
  at.write('a/broken.png', 'this is no picture')
  await at.pass()
  expect(at.mirrorNow()).toMatchObject({ files: 4, synced: 2, failed: 2, pending_uploads: 0 })
  // A pass names each of them, and names none again that it knows already.
  at.write('a/later.png', png(20, 2).bytes)
  await at.pass()
  const failed = at.events.flatMap(emitted => (emitted.event === 'picture_failed' ? [emitted.path] : []))
  expect(failed.sort()).toEqual(['a/bad\\xff.png', 'a/broken.png'])

  // Its path is understood as `status` shows it, and as a shell gives it.
  for (const given of ['a/bad\\xff.png', 'a/bad\ufffd.png', join(at.pictures, 'a/bad\ufffd.png')])
    expect(locationsOf(at.config, at.synced, given)).toMatchObject([{ path: 'a/bad\\xff.png' }])
  expect(isKnownAt(at.synced, { mirror: at.config.mirrors[0]!, path: 'a/bad\\xff.png' })).toBe(true)
  const reason = inWords(because('name_not_utf8'))
  expect(at.why('a/bad\\xff.png')).toMatchObject({ state: 'unknown', reason })
})
