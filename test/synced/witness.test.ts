import { execFileSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type FileMark, judge, readWitness, seenAs, writeWitness } from '../../src/synced/witness.ts'
import { tempFile } from '../temp-folder.ts'

const mark = (ino: number): FileMark => ({ ino: String(ino), size: '4096', mtime: '1', ctime: '1' })
const open = {
  generation: 5,
  closed: null,
  unsettled: false,
  damaged: false,
  isOriginal: true,
  mark: mark(2),
}
const closed = { ...open, closed: mark(1) }
const remembers = (generation: number | null, seen = open) => ({
  generation,
  witness: generation === null ? null : seenAs({ ...seen, generation }),
})

describe('what a database and its witness say together', () => {
  it.each([
    ['new', 'nothing was there', remembers(null), null, null],
    ['lost', 'the witness is alone', remembers(null), null, closed],
    ['cut_off', 'an albumd before the witness left it', remembers(null), mark(1), null],
    ['clean', 'it is the one that was closed', remembers(5), mark(1), closed],
    ['restored', 'it is another file than was closed', remembers(5), mark(3), closed],
    ['clean', 'only its attributes changed', remembers(5), { ...mark(1), ctime: '2' }, closed],
    ['restored', 'it was written to', remembers(5), { ...mark(1), mtime: '2', ctime: '2' }, closed],
    [
      'restored',
      'a copy with the old times lies over both',
      remembers(5),
      { ...mark(1), ctime: '2' },
      { ...closed, isOriginal: false },
    ],
    ['restored', 'it was opened less often', remembers(4), mark(1), closed],
    ['restored', 'it was opened less often, and nothing was closed', remembers(4), mark(1), open],
    [
      'restored',
      'an albumd before the witness left it, and one after it went on',
      remembers(null),
      mark(1),
      open,
    ],
    ['restored', 'the witness is missing', remembers(5), mark(1), null],
    [
      'cut_off',
      'the power went in its first opening, before the witness was written',
      { generation: 1, witness: null },
      mark(1),
      null,
    ],
    ['restored', 'it saw another witness', remembers(5), mark(1), { ...open, mark: mark(9) }],
    ['cut_off', 'the process was killed', remembers(5), mark(1), open],
    ['cut_off', 'the power went before the witness was written', remembers(6), mark(1), closed],
    [
      'cut_off',
      'the power went before the database had seen the witness',
      { ...remembers(4), generation: 5 },
      mark(1),
      { ...open, mark: mark(9) },
    ],
  ] as const)('%s: %s', (verdict, _, remembered, database, witness) => {
    expect(judge(remembered, database, witness)).toBe(verdict)
  })
})

describe('the witness', () => {
  it('is for its owner alone, and read as it was written', () => {
    const file = tempFile('albumd.witness')
    expect(readWitness(file)).toBeNull()
    const witness = { generation: 3, closed: mark(1), unsettled: true, damaged: false }
    const written = writeWitness(file, witness)
    expect(readWitness(file)).toEqual({ ...witness, isOriginal: true, mark: written })
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('is no original as a copy, not even over the original', () => {
    const [file, copy] = [tempFile('albumd.witness'), tempFile('albumd.witness')]
    writeWitness(file, { generation: 3, closed: mark(1), unsettled: false, damaged: false })
    execFileSync('cp', ['-a', file, copy])
    expect(readWitness(copy)).toMatchObject({ generation: 3, isOriginal: false })
    writeWitness(file, { generation: 4, closed: mark(1), unsettled: false, damaged: false })
    execFileSync('cp', ['-a', copy, file])
    expect(readWitness(file)).toMatchObject({ generation: 3, isOriginal: false })
  })

  it('is none where it is something else', () => {
    const file = tempFile('albumd.witness')
    for (const text of ['', '{', 'null', '{}', '{"generation":"4"}']) {
      writeFileSync(file, text)
      expect(readWitness(file)).toBeNull()
    }
  })
})
