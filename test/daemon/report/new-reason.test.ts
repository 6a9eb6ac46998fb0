import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listPending } from '../../../src/daemon/commands/deletions.ts'
import { rehearse } from '../../../src/daemon/engine/rehearsal.ts'
import { LOG_EVENTS } from '../../../src/daemon/report/log.ts'
import { statusOf } from '../../../src/daemon/report/status.ts'
import { wait } from '../../../src/daemon/report/step.ts'
import { realDisk } from '../../../src/local/disk.ts'
import { PictureFileError } from '../../../src/local/open-file.ts'
import type { Facts, Recorded } from '../../../src/page/facts.ts'
import { mirrors } from '../../../src/page/view/sections.ts'
import { spoken } from '../../../src/sync/pass-events.ts'
import { because, codeOf, inWords } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { type Asked, asked } from './asked.ts'

/** Any reason of which no face knows anything: whoever raises it and its words are all that there is. */
const REASON = because('not_on_host')
const WORDS = inWords(REASON)
const AT_REST = { underWay: [], rate: { bytes: 0, pictures: 0 } } as unknown as Facts

it('shows a reason that a picture waits for in why, status, page, log and dry run, though no face knows it', async () => {
  const at = await asked()
  at.write('p.png', png(3, 3).bytes)
  const openPicture = async () => {
    throw new PictureFileError('CHANGING', REASON)
  }
  await at.pass({ openPicture })
  expect(at.why('p.png').next).toMatchObject([{ code: codeOf(REASON), what: WORDS }])
  const status = statusOf(at.config, at.synced, true, Date.now())
  expect(status.mirrors[0]).toMatchObject({ waits: [{ code: codeOf(REASON), path: 'p.png' }] })
  expect(status.mirrors[0]!.reason).toContain(WORDS)
  expect(mirrors({ status, alerts: [] } as unknown as Recorded, AT_REST).text).toContain(WORDS)
  const told = at.events.find(({ event }) => event === 'picture_waits')!
  expect(spoken(told)).toMatchObject({ message: WORDS })
  expect(LOG_EVENTS).toHaveProperty(told.event)
  expect(await planOf(at, { openPicture })).toMatchObject([{ operation: 'wait', path: 'p.png', why: REASON }])
})

it('shows a reason for which an image stays in why, deletions list, status, page, log and dry run', async () => {
  const at = await asked()
  for (const [n, name] of ['p.png', 'other.png'].entries()) at.write(name, png(3 + n, 3).bytes)
  await at.pass()
  rmSync(join(at.pictures, 'p.png'))
  // The scan does not see it any more, and the last check does.
  const lstat = (path: string) => realDisk.lstat(path.replace('p.png', 'other.png'))
  const disk = { ...realDisk, lstat }
  for (const _ of ['missed', 'kept']) await at.pass({ disk })
  const words = inWords(because('file_there_again', { path: 'p.png' }))
  const stays = [
    { code: 'image_stays', what: expect.stringContaining(words), as_of: expect.stringMatching(/^20/) },
  ]
  expect(at.why('p.png').next).toMatchObject(stays)
  expect(listPending(at.config, at.synced, undefined, Date.now())[0]!.next.slice(0, 1)).toMatchObject(stays)
  const status = statusOf(at.config, at.synced, true, Date.now())
  expect(status.mirrors[0]).toMatchObject({ image_waits: [{ ...stays[0], images: 1, path: 'p.png' }] })
  expect(mirrors({ status, alerts: [] } as unknown as Recorded, AT_REST).text).toContain(
    `p.png: the image stays (${words})`,
  )
  const told = at.events.find(({ event }) => event === 'image_kept')!
  expect(spoken(told)).toMatchObject({ reason: words })
  expect(LOG_EVENTS).toHaveProperty(told.event)
  const [planned] = await planOf(at, { disk })
  expect([planned!.path, inWords(planned!.why)]).toEqual(['p.png', words])
})

async function planOf(at: Asked, changes: Parameters<Asked['context']>[0]) {
  const planned: Parameters<Parameters<typeof rehearse>[2]['say']>[0][] = []
  const never = new AbortController().signal
  const request = { mirrors: [at.mirror], interruption: { stop: never, cut: never } }
  await rehearse(at.context(changes), request, {
    blocks: [],
    waitOf: () => wait(because('goes_next', { of: 'image' })),
    note() {},
    say: one => planned.push(one),
  })
  return planned
}
