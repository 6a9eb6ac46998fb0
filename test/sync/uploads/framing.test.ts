import { request as openRequest } from 'node:http'
import { expect, it } from 'vitest'
import { rememberingDelivery } from '../../../src/sync/listing/index.ts'
import { UNLIMITED } from '../../host/choices.ts'
import { clientOf } from '../../remote/client-of.ts'
import { bodyOf, json, serve } from '../../remote/serve.ts'
import { count, imagesOn, many, openWith, summary, type Workshop } from '../workshop.ts'

// biome-ignore lint/suspicious/noExplicitAny: an answer of any form.
type Answer = any

/** The workshop's host, whose answers below {base_url} a proxy frames in another way. */
async function framing(workshop: Workshop, frame: (path: string, answer: Answer, self: string) => Answer) {
  const self: string = await serve(async (request, response) => {
    const bytes = await bodyOf(request)
    const { connection, ...headers } = request.headers
    const to = { method: request.method!, headers }
    const passed = openRequest(workshop.siteUrl + request.url, to, async answer => {
      const text = (await bodyOf(answer)).toString('latin1')
      if (!answer.headers['content-type']?.includes('json')) return response.end(Buffer.from(text, 'latin1'))
      json(response, answer.statusCode!, frame(request.url!, JSON.parse(text), self))
    })
    passed.end(bytes)
  })
  const host = clientOf(self, { apiKey: 'workshop-key', requestsPerSecond: UNLIMITED, concurrency: 4 })
  return rememberingDelivery(host, workshop.synced)
}

it('step 1 may be answered flat', async () => {
  const workshop = await openWith(many(5))
  const host = await framing(workshop, (path, { data, ...rest }) =>
    path.endsWith('/upload') ? { ...rest, ...data } : { ...rest, ...(data && { data }) },
  )
  expect(await workshop.pass({ host })).toEqual({ stopped: [] })
  expect(summary(workshop)).toMatchObject({ synced: 5 })
})

it('step 2 may say no more than that it has succeeded: the address that was promised shows the id', async () => {
  const workshop = await openWith(many(5))
  const host = await framing(workshop, (path, answer, self) => {
    if (path.endsWith('/upload')) {
      const { upload_url } = answer.data
      answer.data.upload_url = self + new URL(upload_url).pathname + new URL(upload_url).search
    }
    return 'image_id' in answer ? { success: true } : answer
  })
  expect(await workshop.pass({ host })).toEqual({ stopped: [] })
  expect(summary(workshop)).toMatchObject({ synced: 5 })
  expect(count(workshop, 'picture_uncertain')).toBe(0)
  expect(await imagesOn(workshop)).toHaveLength(5)
  const ids = new Set(workshop.synced.images.acknowledged(9).map(({ remote_id }) => remote_id))
  const { remote_id } = workshop.synced.albums.all()[0]!
  const listed = await workshop.host.list(remote_id, 1, new AbortController().signal)
  expect(listed.ok && listed.value.images.map(({ id }) => ids.has(id))).toEqual(Array(5).fill(true))
})
