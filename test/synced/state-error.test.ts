import { describe, expect, it } from 'vitest'
import { explained } from '../../src/synced/state-error.ts'

describe('a state that fails', () => {
  it.each([
    ['STATE_FULL', ['SQLITE_FULL', 'database or disk is full'], ['ENOSPC', 'no space left on device, write']],
    ['STATE_BUSY', ['SQLITE_BUSY', 'database is locked'], ['SQLITE_PROTOCOL', 'locking protocol']],
  ])('is told in one way, whatever the text of its error: %s', (code, ...errors) => {
    const told = errors.map(([code, text]) =>
      explained(Object.assign(new Error(text), { code }), 'albumd.db'),
    )
    expect(told).toEqual([told[0], told[0]])
    expect(told[0]).toMatchObject({ code, message: expect.stringMatching(/^albumd\.db: .*/) })
  })
})
