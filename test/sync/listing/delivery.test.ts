import { describe, expect, it } from 'vitest'
import { hostWith } from '../../../src/remote/host.ts'
import { deliveryAddresses, rememberingDelivery } from '../../../src/sync/listing/index.ts'
import { openWorkshop, red } from '../workshop.ts'

const never = new AbortController().signal

/** A workshop whose host names this delivery base. */
async function workshopAt(base: string | null) {
  const workshop = await openWorkshop()
  const host = hostWith(workshop.host, {
    async list(...question) {
      const listed = await workshop.host.list(...question)
      return listed.ok ? { ok: true, value: { ...listed.value, cdn_base_url: base } } : listed
    },
  })
  return { workshop, host: rememberingDelivery(host, workshop.synced) }
}

describe('a delivery address that the host has not told', () => {
  it('is built below the delivery base that a listing named', async () => {
    const { workshop, host } = await workshopAt('https://c.example/x/')
    expect(deliveryAddresses(workshop.synced)('an id', 'a.png')).toBeNull()
    await host.list(null, 1, never)
    expect(deliveryAddresses(workshop.synced)('an id', 'a.png')).toBe('https://c.example/x/i/an%20id')
  })

  it('is not known when a listing names no delivery base, and the base that was named before stays', async () => {
    const { workshop, host } = await workshopAt(null)
    await host.list(null, 1, never)
    expect(deliveryAddresses(workshop.synced)('1', 'a.png')).toBeNull()
    await workshop.synced.commit(tx => tx.meta.set('cdn_base', 'https://c.example'))
    await host.list(null, 1, never)
    expect(deliveryAddresses(workshop.synced)('1', 'a.png')).toBe('https://c.example/i/1')
  })

  it('is built as uploads have shown before it is built from the delivery base', async () => {
    const { workshop, host } = await workshopAt('https://elsewhere.example')
    workshop.write('red.png', red)
    await workshop.pass({ host })
    const { cdn_url, remote_id, name } = workshop.synced.images.latest()!
    expect(deliveryAddresses(workshop.synced)(remote_id, name)).toBe(cdn_url)
  })
})
