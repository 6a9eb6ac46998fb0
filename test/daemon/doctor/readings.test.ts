import { expect, it, onTestFinished } from 'vitest'
import { checkReadings } from '../../../src/daemon/doctor/readings.ts'
import { quotaStatus } from '../../../src/daemon/report/quota-status.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { parse, SHORTEST } from '../../config/config-text.ts'

const HOUR_MS = 3_600_000

it('tells what was learned of the host, to people and to programs', () => {
  const synced = openSynced(openDatabase(':memory:'))
  onTestFinished(() => synced.close())
  const config = parse(SHORTEST)
  const findings = (of = config) => checkReadings(of, synced, quotaStatus(of, synced, Date.now()).quota)
  const messages = () => findings().map(({ message }) => message)
  expect(messages()).toEqual(['nothing is learned of the host yet'])
  synced.commitNow(tx => {
    tx.meta.set('dimensions', {
      'image/jpeg': { reading: 'turned', since: 1 },
      'image/svg+xml': { reading: 'undeclared', since: 1 },
      'image/tiff': { reading: null, since: 0, rival: { reading: 'skip', pictures: 2 } },
    })
    tx.meta.set('declared_type', 'name')
    tx.meta.set('cdn_base', 'https://cdn.example.com')
    tx.meta.set('default_album', '')
    const { id } = tx.albums.put(null, 'Photos', 'remote', true)
    tx.albums.close(1, tx.albums.put(id, 'Deep', 'deeper', true).id)
    tx.meta.set('quota_reset', { from: 15 * HOUR_MS, to: 16 * HOUR_MS, days: 2 })
    tx.meta.set('size_limit', { refused: 3 * 2 ** 20, askedAt: 1 })
  })
  expect(messages()).toEqual([
    'dimensions: image/jpeg as EXIF turns it; image/svg+xml left out',
    'a picture whose name stands for another type is declared with that of its name, because the host refuses the other',
    'images are delivered below https://cdn.example.com',
    'the account has no default album',
    'the host creates no albums in Photos/Deep; albumd asks again after a day',
    "the quota's day begins between 15:00:00 and 16:00:00 UTC",
    'the host refused a file of 3 MB as too large',
  ])
  expect(Object.assign({}, ...findings().map(({ learned }) => learned))).toEqual({
    dimensions: { 'image/jpeg': 'turned', 'image/svg+xml': 'undeclared' },
    declared_type: 'name',
    delivery_base: 'https://cdn.example.com',
    default_album: null,
    closed_albums: ['Photos/Deep'],
    quota_day: { from: '15:00:00', to: '16:00:00', days: 2 },
    size_refused: 3 * 2 ** 20,
  })
  const configured = { ...config, host: { ...config.host, dimensions: 'stored' as const } }
  expect(findings(configured)).toContainEqual(
    expect.objectContaining({
      message: 'dimensions: host.dimensions says stored, which goes before what was learned',
    }),
  )
  synced.commitNow(tx => tx.meta.set('dimensions', { 'image/jpeg': { reading: 'skip', since: 1 } }))
  expect(findings(configured)).toContainEqual(
    expect.objectContaining({ status: 'warn', remedy: expect.stringContaining('Leave host.dimensions out') }),
  )
})
