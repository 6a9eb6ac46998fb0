import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { explained } from '../../src/synced/state-error.ts'
import { asNobody, NOBODY } from '../nobody.ts'
import { tempFolder } from '../temp-folder.ts'

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

  it.runIf(process.getuid?.() === 0)('names the owner of a copy that root has put back', async () => {
    const folder = tempFolder()
    chownSync(folder, NOBODY, NOBODY)
    const file = join(folder, 'albumd.db')
    writeFileSync(file, '', { mode: 0o600 })
    const error = Object.assign(new Error('unable to open database file'), { code: 'SQLITE_CANTOPEN' })
    expect(await asNobody(() => explained(error, file))).toMatchObject({
      code: 'STATE_UNREADABLE',
      message: `${file}: State belongs to root. Say sudo chown ${NOBODY} ${file}`,
    })
    // Root itself may open every file.
    expect(explained(error, file)).toMatchObject({ message: expect.stringContaining("can't be opened") })
  })
})
