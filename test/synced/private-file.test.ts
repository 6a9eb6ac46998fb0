import { chownSync, linkSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makePrivate, replaceFile } from '../../src/synced/private-file.ts'
import { asNobody, NOBODY } from '../nobody.ts'
import { tempFolder } from '../temp-folder.ts'

// Only root can make files for another user. Where CI runs, root does.
it.skipIf(process.getuid?.() !== 0 && !process.env.CI)(
  "what root makes in the state of another user is that user's",
  async () => {
    const folder = tempFolder()
    chownSync(folder, NOBODY, NOBODY)
    const [database, witness, elsewhere] = ['albumd.db', 'albumd.witness', 'elsewhere'].map(name =>
      join(folder, name),
    ) as [string, string, string]
    makePrivate(database)
    writeFileSync(elsewhere, 'untouched')
    // A link that the user puts in the way is not followed.
    symlinkSync(elsewhere, `${witness}.tmp`)
    replaceFile(witness, 'by root')
    for (const file of [database, witness])
      expect(statSync(file)).toMatchObject({ uid: NOBODY, gid: NOBODY, mode: 0o100600 })
    expect(statSync(elsewhere)).toMatchObject({ uid: 0, size: 9 })
    expect(readFileSync(witness, 'utf8')).toBe('by root')
    // A backup that root has put back. What has another name elsewhere stays root's.
    const [backup, log] = [join(folder, 'put-back.db'), join(folder, 'put-back.db-wal')]
    writeFileSync(backup, 'copied')
    linkSync(elsewhere, log)
    for (const file of [backup, log]) makePrivate(file)
    expect(statSync(backup)).toMatchObject({ uid: NOBODY, gid: NOBODY, mode: 0o100600 })
    expect(statSync(log).uid).toBe(0)
    await asNobody(() => replaceFile(witness, 'by its user'))
    expect(readFileSync(witness, 'utf8')).toBe('by its user')
  },
)
