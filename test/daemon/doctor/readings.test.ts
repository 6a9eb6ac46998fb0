import { expect, it } from 'vitest'
import { checkReadings } from '../../../src/daemon/doctor/readings.ts'
import { emptyState } from '../../synced/open-tx.ts'

it('tells what was learned of the host, to people and to programs', () => {
  const synced = emptyState()
  expect(checkReadings(synced)).toMatchObject([{ status: 'pass' }])
  synced.commitNow(tx => {
    tx.meta.set('turned_skip', true)
    tx.meta.set('cdn_base', 'https://cdn.example.com')
    tx.meta.set('default_album', '')
    tx.meta.set('quota_opened', Date.parse('2026-11-21T16:00:00Z'))
  })
  expect(Object.assign({}, ...checkReadings(synced).map(({ learned }) => learned))).toEqual({
    turned_skip: true,
    delivery_base: 'https://cdn.example.com',
    default_album: null,
    quota_opened: '2026-11-21T16:00:00.000Z',
  })
})
