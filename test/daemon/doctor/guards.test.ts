import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkGuards, checkHeld } from '../../../src/daemon/doctor/guards.ts'
import { realDisk } from '../../../src/local/real-disk.ts'
import { red } from '../../sync/workshop.ts'
import { mirrorInSync } from '../mirror-status.ts'
import { asked } from '../why/asked.ts'

describe('a guarded mirror', () => {
  const begun = async () => {
    const at = await asked()
    at.write('red.png', red)
    await at.pass()
    return { ...at, guards: () => checkGuards(at.config, at.synced, realDisk) }
  }

  it('fails while its root is another one, before and after a pass has found that, and not once it is back', async () => {
    const { pictures, pass, guards } = await begun()
    expect(guards()).toEqual([])
    const before = `${pictures}-before`
    renameSync(pictures, before)
    expect(guards()).toEqual([])
    mkdirSync(pictures)
    const failing = [
      { check: 'folder', status: 'fail', message: expect.stringMatching(/^guarded: .*albumd trust/) },
    ]
    expect(guards()).toMatchObject(failing)
    await pass()
    expect(guards()).toMatchObject(failing)
    rmSync(pictures, { recursive: true })
    renameSync(before, pictures)
    await pass()
    expect(guards()).toEqual([])
  })

  it('fails with what the last look was in doubt of, and not where a look only ended early', async () => {
    const { synced, mirror, guards } = await begun()
    const { id } = synced.mirrors.of(mirror.folder)!
    synced.commitNow(tx => tx.mirrors.guard(id, { code: 'FOLDER_UNKNOWN', reason: 'why so' }))
    expect(guards()).toMatchObject([{ status: 'fail', message: expect.stringContaining('why so') }])
    synced.commitNow(tx => tx.mirrors.guard(id, { code: 'SCAN_ENDED', reason: 'why so' }))
    expect(guards()).toEqual([])
  })
})

it('warns of held deletions', () => {
  const mirror = mirrorInSync(3)
  expect(checkHeld([mirror])).toEqual([])
  expect(checkHeld([{ ...mirror, held_deletions: 2 }])).toMatchObject([
    { status: 'warn', message: expect.stringContaining('2 deletions are held') },
  ])
})
