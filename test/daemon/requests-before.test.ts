import { describe, expect, it, onTestFinished } from 'vitest'
import {
  endRequests,
  lastRequestBefore,
  ledgerAfter,
  startRequests,
} from '../../src/daemon/state/last-process.ts'
import { REQUESTS_PER_SECOND } from '../../src/protocol/limits.ts'
import { openDatabase } from '../../src/synced/database.ts'
import { openSynced } from '../../src/synced/synced.ts'

function state() {
  const db = openDatabase(':memory:')
  onTestFinished(() => void db.close())
  return openSynced(db)
}

describe('requests of an earlier process', () => {
  it('are taken to have been sent until just now where it did not end by itself', () => {
    const synced = state()
    expect(lastRequestBefore(synced, 5000)).toBeNull()
    synced.commitNow(tx => tx.meta.set('base_url', 'https://example.com/api/v1'))
    synced.commitNow(tx => endRequests(tx, 100))
    synced.commitNow(tx => startRequests(tx))
    expect(lastRequestBefore(synced, 5000)).toBe(5000)
  })

  it('ended when it said so', () => {
    const synced = state()
    synced.commitNow(tx => endRequests(tx, 100))
    expect(lastRequestBefore(synced, 5000)).toBe(100)
  })

  it('no longer count after a reboot', () => {
    const synced = state()
    synced.commitNow(tx => tx.meta.set('quiet_since', 'another-boot 100'))
    expect(lastRequestBefore(synced, 5000)).toBeNull()
  })

  it('fill every window', () => {
    expect(ledgerAfter(7, REQUESTS_PER_SECOND).load('delete')).toEqual([7, 7])
    expect(ledgerAfter(null, REQUESTS_PER_SECOND).load('delete')).toEqual([])
  })
})
