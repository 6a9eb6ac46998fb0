import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withinDeadline } from '../../src/protocol/picture/deadline.ts'
import { png } from '../pictures.ts'

const OVER = expect.objectContaining({ code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' })

test('a function that never ends is ended by its deadline', () => {
  const endless = () => {
    for (;;);
  }
  expect(() => withinDeadline(50, endless)).toThrow(OVER)
})

test('a regular expression that backtracks without end is ended by its deadline', () => {
  const backtracking = () => /^(a+)+$/.test(`${'a'.repeat(80)}!`)
  expect(() => withinDeadline(50, backtracking)).toThrow(OVER)
})

test('what ends in time returns its value and throws its error, also after another was ended', () => {
  const thrown = new RangeError('beyond the end')
  expect(withinDeadline(10_000, () => 42)).toBe(42)
  expect(() =>
    withinDeadline(10_000, () => {
      throw thrown
    }),
  ).toThrow(thrown)
})

test('where too many files are open, that is thrown, and nothing ends the process', () => {
  const script = `
    import { openSync } from 'node:fs'
    import { readPicture } from ${JSON.stringify(join(import.meta.dirname, '../../src/protocol/picture/picture.ts'))}
    const bytes = Buffer.from(${JSON.stringify(png().bytes.toString('base64'))}, 'base64')
    const read = () => readPicture({ size: bytes.length, read: async () => bytes })
    const { width } = await read()
    try { for (;;) openSync('/dev/null') } catch {}
    const code = await read().then(() => 'read', error => error.code)
    process.exitCode = width === 3 && code === 'EMFILE' ? 0 : 1`
  execFileSync('sh', [
    '-c',
    'ulimit -n 200; exec "$0" --input-type=module --eval "$1"',
    process.execPath,
    script,
  ])
})
