import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { asked, events } from './asked.ts'

describe('why, of what is left out', () => {
  it('names the rule with its file and line, or the other cause', async () => {
    const at = await asked({ ignore: ['*.bak.png', 'Private/'] })
    const picture = png(4, 3).bytes
    for (const path of [
      'x.bak.png',
      'Private/deep/p.png',
      'b/c.png',
      'b/keep.png',
      '.dot/x.png',
      'b/@eaDir/t.png',
    ])
      at.write(path, picture)
    at.write('b/.albumdignore', '# not these\n\nc.*\n*.png\n!keep.png\n')
    at.write('IMG.HEIC', 'x')
    at.write('empty.png', '')
    symlinkSync('b/keep.png', join(at.pictures, 'link.png'))
    const latin1 = [Buffer.from(`${at.pictures}/b`), Buffer.from([0xe4]), Buffer.from('r.png')]
    writeFileSync(Buffer.concat(latin1), picture)
    await at.pass()
    const left = (path: string) => {
      const { state, left_out } = at.why(path)
      expect(state, path).toBe('left_out')
      return left_out
    }
    expect(left('x.bak.png')).toMatchObject({
      why: 'ignored',
      rule: { pattern: '*.bak.png', file: null, line: 1 },
    })
    expect(left('Private/deep/p.png')).toEqual({
      why: 'ignored',
      path: join(at.pictures, 'Private'),
      rule: { pattern: 'Private/', file: null, line: 2 },
    })
    const file = join(at.pictures, 'b/.albumdignore')
    expect(left('b/c.png')).toMatchObject({ why: 'ignored', rule: { pattern: '*.png', file, line: 4 } })
    expect(at.why('b/c.png').reason).toContain(`hidden by the rule *.png in line 4 of ${file}`)
    expect(left('b/@eaDir/t.png')).toMatchObject({
      why: 'ignored',
      path: join(at.pictures, 'b/@eaDir'),
      rule: null,
    })
    expect(at.why('b/@eaDir/t.png').reason).toContain('"!@eaDir/" in mirrors[].ignore')
    expect(left('.dot/x.png')).toMatchObject({ why: 'hidden', path: join(at.pictures, '.dot') })
    expect(left('IMG.HEIC')).toMatchObject({ why: 'format' })
    expect(left('empty.png')).toMatchObject({ why: 'empty' })
    expect(left('link.png')).toMatchObject({ why: 'links' })
    expect(left('b/.albumdignore')).toMatchObject({ why: 'ignore_file' })
    expect(at.why('b\\xe4r.png')).toMatchObject({
      state: 'unknown',
      left_out: null,
      failure: { code: 'NAME_NOT_UTF8' },
    })
    expect(at.why('b/keep.png')).toMatchObject({ state: 'synced', left_out: null })
  })

  it('says that the image stays, and which command deletes it', async () => {
    const at = await asked()
    at.write('p.png', png(4, 3).bytes)
    await at.pass()
    at.write('.albumdignore', 'p.png\n')
    await at.pass()
    const hidden = at.why('p.png')
    expect(hidden).toMatchObject({ state: 'hidden', left_out: { why: 'ignored' }, image: { name: 'p.png' } })
    expect(hidden.next).toMatchObject([{ command: 'albumd sync --prune-ignored' }])
    expect(events(hidden)).toEqual(['uploaded', 'left_out'])
  })
})
