import { expect, it } from 'vitest'
import { audit } from '../../../src/daemon/commands/audit.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { said } from '../../../src/words/reasons.ts'
import { never } from '../../sync/album-stage.ts'
import { imageOf, partsOf, withPictures } from '../../sync/audit/audit-stage.ts'
import { asked } from '../report/asked.ts'

it('an audit that could not ask the host tells none of the findings of an earlier one', async () => {
  const workshop = await withPictures()
  const { config } = await asked()
  const found = async (host: ImageHost) => {
    const context = partsOf(workshop, host) as unknown as EngineContext
    const engine = { context, pass: () => Promise.reject(new Error('no repair')) }
    return audit(config, engine, false, { stop: never, cut: never }, () => {})
  }
  await workshop.host.deleteImage(imageOf(workshop, '1.png').remote_id, never)
  expect(await found(workshop.host)).toMatchObject({ findings: [{ name: '1.png' }] })
  const failure = { endpoint: 'list', code: 'INVALID_API_KEY', message: said('no'), remedy: 'key' } as const
  const refuses = hostWith(workshop.host, { list: async () => ({ ok: false, failure }) as never })
  expect(await found(refuses)).toMatchObject({ complete: false, findings: [], stopped: [failure] })
})
