import fc from 'fast-check'
import { expect, test } from 'vitest'
import { oneLine, secretsOfAddress } from '../../src/remote/secrets.ts'
import { anyText } from '../any-text.ts'

test('text of a host becomes one line without control characters', () => {
  expect(oneLine('a\r\nb\u001b[31mc\u2028d\u0000', [])).toBe('a b [31mc d')
  fc.assert(
    fc.property(anyText, text => {
      expect(oneLine(text, [])).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    }),
  )
})

test('text of a host becomes of bounded length', () => {
  expect(oneLine('x'.repeat(10_000), []).length).toBeLessThan(400)
})

test('an API key in the text is taken out', () => {
  expect(oneLine('key sk-1 is wrong: sk-1', ['sk-1'])).toBe('key *** is wrong: ***')
})

test('every piece of an upload address that can be the credential counts as a secret', () => {
  const secrets = secretsOfAddress('https://n.example/up/abcdefgh12?token=x%2Fyz123456&a=1')
  const said = oneLine('unknown abcdefgh12, x%2Fyz123456, x/yz123456', secrets)
  expect(said).toBe('unknown ***, ***, ***')
})
