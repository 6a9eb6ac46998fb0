import { expect, test } from 'vitest'
import { givenAddress, parseAddress } from '../../../src/remote/http/address.ts'

test.each([
  ['https://h.example/a/../b/./c', '/a/../b/./c'],
  ['https://h.example/a\\b', '/a\\b'],
  ['https://h.example/%7e%2F?x="y"&z=\'|{}', '/%7e%2F?x="y"&z=\'|{}'],
  ['https://h.example//double//', '//double//'],
  ['https://h.example?token=1', '/?token=1'],
  ['https://h.example', '/'],
])('%s keeps every byte of its path and query', (text, path) => {
  expect(parseAddress(text)?.path).toBe(path)
})

test.each([
  'https://h.example/a b',
  'https://h.example/ä',
  'https://h.example/a\nb',
  'https://h.example/#fragment',
  'https://user:pass@h.example/',
  'https://evil.example\\@h.example/',
  'https://h.example:99999/',
  'https:/h.example/',
  'ftp://h.example/',
  'file:///etc/passwd',
  '//h.example/',
  '',
])('%j can not be sent exactly as it is, and is refused', text => {
  expect(parseAddress(text)).toBeNull()
})

test('messages show only host and port', () => {
  expect(parseAddress('https://H.example/secret?token=1')?.where).toBe('h.example:443')
  expect(parseAddress('http://[::1]:8080/')?.where).toBe('[::1]:8080')
})

const local = parseAddress('http://127.0.0.1:1/api/v1')!
const secureLocal = parseAddress('https://localhost:1/api/v1')!
const remote = parseAddress('https://images.example.com/api/v1')!

test.each(['http://127.0.0.1:9/x', 'http://127.1/x', 'http://localhost/x', 'http://[::1]/x'])(
  '%s may be used when the host is a loopback address, and else not',
  text => {
    expect(givenAddress(text, local)).not.toBeNull()
    expect(givenAddress(text, secureLocal)).not.toBeNull()
    expect(givenAddress(text, remote)).toBeNull()
  },
)

test.each([
  'http://images.example.com/x',
  'http://127.0.0.1.example.com/x',
  'http://10.0.0.1/x',
  'http://localhost.example/',
  'http://a.localhost/x',
])('%s may never be used', text => {
  expect(givenAddress(text, local)).toBeNull()
  expect(givenAddress(text, remote)).toBeNull()
})

test('any HTTPS address may be used', () => {
  expect(givenAddress('https://node7.example.net/up/1', remote)).not.toBeNull()
  expect(givenAddress('https://node7.example.net/up/1', local)).not.toBeNull()
})
