import { describe, expect, it } from 'vitest'
import { realDisk, rememberRemotes } from '../../src/local/real-disk.ts'

function stage() {
  const asked: string[] = []
  const now = { at: 1e15 }
  const disk = rememberRemotes({
    ...realDisk,
    isRemote: folder => asked.push(folder) > 2,
    now: () => now.at,
  })
  return { asked, now, disk }
}

describe('what is remote', () => {
  it('is remembered for a second, folder by folder', () => {
    const { asked, now, disk } = stage()
    expect([disk.isRemote('/a'), disk.isRemote('/b'), disk.isRemote('/a')]).toEqual([false, false, false])
    now.at += 1_000_000
    disk.isRemote('/a')
    expect(asked).toEqual(['/a', '/b'])
  })

  it.each([
    ['later', 1_000_001],
    ['after the clock was set back', -3_600_000_000],
  ])('is asked for anew %s', (_, passed) => {
    const { asked, now, disk } = stage()
    disk.isRemote('/a')
    disk.isRemote('/b')
    now.at += passed
    expect([disk.isRemote('/a'), disk.isRemote('/b')]).toEqual([true, true])
    expect(asked).toEqual(['/a', '/b', '/a', '/b'])
  })
})
