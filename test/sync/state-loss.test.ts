import { describe, expect, it, onTestFinished } from 'vitest'
import { noteBoot } from '../../src/sync/clock.ts'
import { openDatabase } from '../../src/synced/database.ts'
import { openSynced } from '../../src/synced/synced.ts'

/** A state with a creation that was sent, and an album that was made, at these moments of a boot's clock. */
function state(sentAt: number, madeAt: number) {
  const db = openDatabase(':memory:')
  onTestFinished(() => void db.close())
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
  it('stay within one boot', () => {
    const { synced, times } = state(100, 200)
    synced.commitNow(tx => noteBoot(tx, 'one', 5000))
    expect(times()).toEqual([100, 200, null])
  })

  it('begin anew after another boot, whatever its clock says', () => {
    for (const monotonic of [7, 5000]) {
      const { synced, times } = state(100, 200)
      synced.commitNow(tx => noteBoot(tx, 'two', monotonic))
      expect(times()).toEqual([monotonic, monotonic, null])
    }
  })

  it('begin anew where the clock is behind and boots have no name', () => {
    const { synced, times } = state(100, 200)
    synced.commitNow(tx => noteBoot(tx, 'one', 99))
    expect(times()).toEqual([99, 99, null])
  })

  it('begin anew in a state that never noted a boot', () => {
    const { synced, times } = state(100, 200)
    synced.commitNow(tx => tx.meta.clear('boot'))
    synced.commitNow(tx => noteBoot(tx, 'one', 300))
    expect(times()).toEqual([300, 300, null])
  })
})
