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

describe('the locks on the roots', () => {
  it('lock a root when it appears, so that no other albumd has it', () => {
    const root = join(tempFolder(), 'root')
    const ours = locksOn(root)
    expect(ours.lockMissing().size).toBe(0)
    mkdirSync(root)
    expect(ours.lockMissing().size).toBe(0)
    expect([...locksOn(root).lockMissing().keys()]).toEqual([root])
  })

  it('are taken when the other albumd has ended', () => {
    const root = tempFolder()
    const theirs = locksOn(root)
    theirs.lockMissing()
    const ours = locksOn(root)
    expect(ours.lockMissing().get(root)?.message).toContain(root)
    theirs.release()
    expect(ours.lockMissing().size).toBe(0)
  })
})
