import { expect, it } from 'vitest'
import { Viewers } from '../../src/page/viewers.ts'

it('lets nothing pile up for a viewer who does not listen, and goes on once he does', async () => {
  const viewers = new Viewers()
  const reader = viewers.welcome('1')!.getReader()
  await reader.read()
  for (let n = 0; n < 1000; n++) viewers.beat()
  viewers.show({ head: 'news' })
  const decoder = new TextDecoder()
  const next = async () => decoder.decode((await reader.read()).value)
  expect(await next()).toBe(': \n\n')
  expect(await next()).toContain('news')
  viewers.beat()
  expect(await next()).toBe(': \n\n')
})
