import { describe, expect, it } from 'vitest'
import { likelyKey } from '../../src/config/config-error.ts'

const KNOWN = ['host', 'mirrors', 'log', 'plan', 'base_url', 'api_key_file', 'requests_per_second', 'settle']

describe('the key that was likely meant', () => {
  it.each([
    ['hots', 'host'],
    ['Host', 'host'],
    ['mirror', 'mirrors'],
    ['logs', 'log'],
    ['baseUrl', 'base_url'],
    ['base-url', 'base_url'],
    ['requestPerSeconds', 'requests_per_second'],
    ['api_key', 'api_key_file'],
    ['set', 'settle'],
  ])('for %s is %s', (written, likely) => {
    expect(likelyKey(written, KNOWN)).toBe(likely)
  })

  it.each(['', 'x', 'foo', 'colour', 'a', 'album', 'a_word_without_end_'.repeat(100)])(
    'for %s is none',
    written => {
      expect(likelyKey(written, KNOWN)).toBe(null)
    },
  )
})
