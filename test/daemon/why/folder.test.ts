import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { asked } from './asked.ts'

describe('why, of a folder', () => {
  it('tells what it holds and which album stands for it', async () => {
    const at = await asked()
    at.write('a/b/p.png', png(4, 3).bytes)
    at.write('a/q.png', 'no picture')
    at.write('a/notes.txt', 'x')
    at.write('ab.png', png(5, 3).bytes)
    await at.pass()
    expect(at.why('a')).toMatchObject({
      state: 'folder',
      album: { path: 'Photos/a' },
      counts: { files: 2, states: { synced: 1, failed: 1 }, left_out: { format: 1 } },
    })
    expect(at.why('')).toMatchObject({ state: 'folder', path: at.pictures, counts: { files: 3 } })
  })

  it('tells that it is in doubt, as of all that lies in it, and what ends that', async () => {
    const at = await asked()
    for (let n = 0; n < 25; n++) at.write(`a/${n}.png`, png(2 + n, 2).bytes)
    at.write('z.png', png(40, 2).bytes)
    await at.pass()
    for (let n = 0; n < 25; n++) rmSync(join(at.pictures, `a/${n}.png`))
    await at.pass()
    for (const path of ['a', 'a/3.png']) {
      const { reason, guard, next } = at.why(path)
      expect(reason).toContain('are gone at once')
      expect(guard).toContain('albumd trust')
      expect(next[0]!.what).toContain('albumd trust')
    }
    expect(at.why('z.png').state).toBe('synced')
  })
})
