import { expect, it } from 'vitest'
import { fitted } from '../../src/cli/terminal/fitted.ts'

it('breaks a line between words, below the text behind its label', () => {
  expect(fitted('  next    the image is deleted once the grace has ended', 40)).toBe(
    '  next    the image is deleted once the\n          grace has ended',
  )
  expect(fitted('warn  folder      a.png: no picture', 30)).toBe(
    'warn  folder      a.png: no\n                  picture',
  )
  expect(fitted('not on the host yet', 12)).toBe('not on the\n  host yet')
})

it('leaves commands, paths and what fits whole', () => {
  expect(fitted('to keep the image: albumd deletions discard "/a b.png"', 30)).toBe(
    'to keep the image:\n  albumd deletions discard "/a b.png"',
  )
  expect(fitted('failed 2; "albumd why /srv/photos/a.png" says why', 20)).toBe(
    'failed 2;\n  "albumd why /srv/photos/a.png"\n  says why',
  )
  expect(fitted('sent  /srv/photos/a-very-long-name.png', 20)).toBe(
    'sent\n      /srv/photos/a-very-long-name.png',
  )
  expect(fitted('\u001b[31mfailed\u001b[39m 12345', 12)).toBe('\u001b[31mfailed\u001b[39m 12345')
})

it('changes nothing where no terminal is', () => {
  const text = 'a line that is longer than any terminal\nand another'
  expect([fitted(text, undefined), fitted(text, 0)]).toEqual([text, text])
})

it('counts columns, not characters', () => {
  expect(fitted('照片照片 照片', 12)).toBe('照片照片\n  照片')
  expect(fitted('🖼🖼🖼 e\u0301e\u0301e\u0301', 12)).toBe('🖼🖼🖼 e\u0301e\u0301e\u0301')
})
