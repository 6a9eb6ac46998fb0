import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readStatus } from '../../../src/daemon/report/status.ts'
import { fingerprintOf, RootLocks, whenFree } from '../../../src/daemon/state/claim.ts'
import { openClaimed } from '../../../src/daemon/state/state.ts'
import { lostAt } from '../../../src/sync/clock.ts'
import { lockState } from '../../../src/synced/lock.ts'
import { parse, SHORTEST } from '../../config/config-text.ts'
import { tempFolder } from '../../temp-folder.ts'
import { VirtualClock } from '../virtual-clock.ts'

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

it('status names the albumd that mirrors the folder with another state_dir, as a command does', () => {
  const folder = tempFolder()
  const config = { ...parse(SHORTEST), state_dir: join(tempFolder(), 'state') }
  const mirrors = [{ ...config.mirrors[0]!, folder }]
  const told = () => readStatus({ ...config, mirrors }, Date.now()).waits_for
  expect(told()).toBe(null)
  locksOn(folder).lockMissing()
  const [refused] = locksOn(folder).lockMissing().values()
  const message = `The albumd that runs (pid ${process.pid}) mirrors ${folder} with another state_dir than this config, or one that was removed. Stop it, or put state_dir back`
  expect(refused!.message).toBe(message)
  expect(told()).toEqual({ code: 'LOCKED', message })
})

describe('waiting for a lock', () => {
  /** Waits while this process has the lock. */
  function waiting(daemonHasIt?: () => Promise<boolean>) {
    const file = join(tempFolder(), 'lock.db')
    const lock = lockState(file)
    onTestFinished(() => lock.release())
    const clock = new VirtualClock()
    const said: string[] = []
    const stop = new AbortController()
    const wait = { stop: stop.signal, say: (line: string) => void said.push(line), clock }
    const ended = whenFree(() => lockState(file), wait, daemonHasIt).then(
      lock => lock.release(),
      error => error.code as string,
    )
    return { lock, clock, said, stop, ended }
  }

  it('ends with the lock, and tells of it after a second', async () => {
    const { lock, clock, said, ended } = waiting()
    await clock.pass(900)
    expect(said).toEqual([])
    await clock.pass(5000)
    expect(said).toHaveLength(1)
    lock.release()
    await clock.pass(100)
    expect(await ended).toBeUndefined()
  })

  it('ends without the lock where one process stays, a daemon has it, or a person ends the wait', async () => {
    const stays = waiting()
    await stays.clock.pass(11_000)
    expect(await stays.ended).toBe('LOCKED')
    expect(await waiting(async () => true).ended).toBe('LOCKED')
    const stopped = waiting()
    await stopped.clock.pass(300)
    stopped.stop.abort()
    expect(await stopped.ended).toBe('LEFT')
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
