import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fingerprintOf, RootLocks } from '../../../src/daemon/state/claim.ts'
import { openClaimed } from '../../../src/daemon/state/state.ts'
import { lostAt } from '../../../src/sync/clock.ts'
import { parse, SHORTEST } from '../../config/config-text.ts'
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

it('a claim whose records were replaced waits for what it may have sent, though the copy is of a clean end', () => {
  const home = tempFolder()
  const state = join(home, 'state')
  const config = parse(
    JSON.stringify({
      host: { base_url: 'https://images.example.com/api/v1' },
      mirrors: [{ folder: '/pictures', album: 'Photos' }],
      state_dir: state,
    }),
  )
  mkdirSync(state)
  const claim = { roots: locksOn(), replaced: false }
  const open = () => openClaimed(config, claim, () => {})
  open().close()
  execFileSync('cp', ['-a', state, `${state}-old`])
  const { synced, failed, close } = open()
  rmSync(state, { recursive: true })
  execFileSync('cp', ['-a', `${state}-old`, state])
  let why: unknown
  try {
    synced.commitNow(tx => tx.meta.clear('pid'))
  } catch (error) {
    why = failed(error)
  }
  expect(why).toMatchObject({ code: 'STATE_REPLACED' })
  close()
  const anew = open()
  expect(lostAt(anew.synced)).not.toBeNull()
  anew.close()
  expect(claim.replaced).toBe(false)
})

it('a config is the same, whatever path or link leads to it', () => {
  const [one, other] = ['/etc/x/albumd.yaml', '/home/ann/link.yaml'].map(file => {
    const env = { HOME: '/home/ann' }
    return fingerprintOf(parse(`${SHORTEST}state_dir: /var/lib/albumd\n`, env, file))
  })
  expect(other).toBe(one)
})
