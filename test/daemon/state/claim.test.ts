import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { RootLocks } from '../../../src/daemon/state/claim.ts'
import { tempFolder } from '../../temp-folder.ts'

function locksOn(...folders: string[]): RootLocks {
  const locks = new RootLocks(folders)
  onTestFinished(() => locks.release())
  return locks
}

describe.skipIf(process.platform !== 'linux')('the locks on the roots', () => {
  it('lock a root when it appears, so that no other albumd has it', async () => {
    const root = join(tempFolder(), 'root')
    const ours = locksOn(root)
    expect((await ours.lockMissing()).size).toBe(0)
    mkdirSync(root)
    expect((await ours.lockMissing()).size).toBe(0)
    expect([...(await locksOn(root).lockMissing()).keys()]).toEqual([root])
  })

  it('are taken when the other albumd has ended', async () => {
    const root = tempFolder()
    const theirs = locksOn(root)
    await theirs.lockMissing()
    const ours = locksOn(root)
    expect((await ours.lockMissing()).get(root)?.message).toContain(root)
    theirs.release()
    await expect.poll(async () => (await ours.lockMissing()).size).toBe(0)
  })
})
