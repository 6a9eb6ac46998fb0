import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PATHS, VERSION_PATH } from '../../../src/protocol/endpoints.ts'
import { startDoublingProxy } from '../../doubling-proxy.ts'
import { UNLIMITED } from '../../host/choices.ts'
import { png } from '../../pictures.ts'
import { expectInSync, expectTheSame, loseState } from '../stage/fault-stage.ts'
import { QUICK, setStage } from '../stage/stage.ts'

/** More than a page in one album, so that each of the others could be given another's last page. */
const PICTURES = 30

it('a host that answers twice gets each picture once, and loses what is due alone', async () => {
  const stage = await setStage({ host: { requestsPerSecond: UNLIMITED } })
  const proxy = await startDoublingProxy(
    new URL(stage.baseUrl).origin,
    ({ method, url }) => method !== 'POST' || url.endsWith(PATHS.create_album),
  )
  stage.configure({
    host: {
      base_url: proxy.origin + VERSION_PATH,
      api_key_file: 'api-key',
      requests_per_second: QUICK,
    },
    deletions: { grace: '300ms', grace_many: '0s', hold_min: 1_000_000 },
  })
  for (let n = 0; n < PICTURES; n++) stage.write(`${n % 3 ? 'many' : 'few'}/${n}.png`, png(2 + n, 2).bytes)
  stage.write('other/deep/1.png', png(60, 2).bytes)
  await untilDone()
  // In albums of their own names, each made once.
  await expectInSync(stage)

  const before = await stage.listing()
  loseState(stage)
  await stage.pass()
  await expectTheSame(stage, before)
  // Once the host has acknowledged a picture, what was found again can be compared.
  stage.write('few/next.png', png(65, 2).bytes)
  await untilDone()
  expect(await stage.json('adopt', '--verify')).toMatchObject({ exit_code: 0 })

  for (const n of [1, 3, 4, 6]) rmSync(join(stage.pictures, `${n % 3 ? 'many' : 'few'}/${n}.png`))
  stage.write('few/more.png', png(70, 2).bytes)
  await untilDone()
  await expectInSync(stage)
  expect(proxy.shifted).toBe(0)

  async function untilDone(): Promise<void> {
    await expect.poll(async () => (await stage.pass()).exit_code).toBe(0)
  }
})
