import { describe, expect, it } from 'vitest'
import { noteBoot } from '../../src/sync/clock.ts'
import { openSynced } from '../../src/synced/synced.ts'
import { memoryDb } from '../synced/open-tx.ts'

/** A state with a creation that was sent, and an album that was made, at these moments of a boot's clock. */
function state(sentAt: number, madeAt: number) {
  const db = memoryDb()
  const synced = openSynced(db)
  synced.commitNow(tx => noteBoot(tx, 'one', sentAt))
  synced.commitNow(tx =>
    tx.journal.openAlbumCreation({ parent: null, name: 'Photos', since: 0, sent_at: sentAt }),
  )
  synced.commitNow(tx => tx.albums.put(null, 'Made', 'al1', true))
  synced.commitNow(tx => tx.albums.made(madeAt, 'al1'))
  synced.commitNow(tx => tx.albums.put(null, 'Found', 'al2', false))
  const times = () => [synced.journal.oldestInDoubt(), ...synced.albums.all().map(({ made_at }) => made_at)]
  return { synced, times }
}

describe('times of the monotonic clock', () => {
  it.each([
    ['stay within one boot', 'one', 5000, [100, 200]],
    ['begin anew after another boot', 'two', 7, [7, 7]],
    ['begin anew after another boot, whatever its clock says', 'two', 5000, [5000, 5000]],
    ['begin anew where the clock is behind and boots have no name', 'one', 99, [99, 99]],
    ['begin anew in a state that never noted a boot', null, 300, [300, 300]],
  ])('%s', (_, boot, monotonic, expected) => {
    const { synced, times } = state(100, 200)
    if (boot === null) synced.commitNow(tx => tx.meta.clear('boot'))
    synced.commitNow(tx => noteBoot(tx, boot ?? 'one', monotonic))
    expect(times()).toEqual([...expected, null])
  })
})
