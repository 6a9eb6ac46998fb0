import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { UNLIMITED } from '../../host/choices.ts'
import { png } from '../../pictures.ts'
import { clientOf } from '../../remote/client-of.ts'
import { openWith, summary } from '../workshop.ts'

it('a machine that slept with a credential asks for another one at once', async () => {
  let asleep = 0
  const workshop = await openWith({ '0.png': png(120, 120, 1).bytes }, {}, { credentialTtlMs: 1500 })
  const host = clientOf(workshop.siteUrl, {
    apiKey: 'workshop-key',
    requestsPerSecond: UNLIMITED,
    credentialLifetimeMs: 10_000,
    wall: () => Date.now() + asleep,
  })
  const requestUpload: ImageHost['requestUpload'] = async (...args) => {
    const granted = await host.requestUpload(...args)
    if (asleep === 0) await setTimeout(1600)
    asleep = 3_600_000
    return granted
  }
  expect(await workshop.pass({ host: hostWith(host, { requestUpload }) })).toEqual({ stopped: [] })
  expect(summary(workshop)).toMatchObject({ synced: 1, failed: 0 })
})
