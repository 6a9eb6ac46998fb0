import { describe, expect, it } from 'vitest'
import { said } from '../../../src/words/reasons.ts'
import { openWorkshop } from '../workshop.ts'

describe('failures', () => {
  it('of a look and of an upload stand beside each other', async () => {
    const workshop = await openWorkshop()
    workshop.write('broken.png', 'no picture')
    await workshop.pass()
    const folder = workshop.synced.folders.at(1, '')!.id
    workshop.synced.commitNow(tx =>
      tx.failures.put({
        folder,
        name: 'broken.png',
        source: 'look',
        code: 'UNREADABLE',
        message: said('m'),
        next_attempt_at: null,
      }),
    )
    workshop.synced.commitNow(tx => tx.failures.clearLook(folder))
    expect(workshop.synced.summaries.failures(9)).toMatchObject([
      { path: 'broken.png', code: 'NOT_A_PICTURE' },
    ])
  })
})
