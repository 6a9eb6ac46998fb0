import { expect, test } from 'vitest'
import { ENDPOINTS } from '../../src/protocol/endpoints.ts'
import { type ErrorCode, STATUS_OF } from '../../src/protocol/errors.ts'
import { cancelled, garbled, isOutage, redirected, refused, unanswered } from '../../src/remote/failures.ts'
import type { Remedy } from '../../src/remote/host.ts'
import { said } from '../../src/words/reasons.ts'

const CODES = Object.keys(STATUS_OF) as ErrorCode[]

const refusal = (endpoint: (typeof ENDPOINTS)[number], code: string, status: number) =>
  refused(endpoint, status, { error: 'no', code }, [])

test('every code of §7 has a remedy at every endpoint, and leaves no doubt: nothing was done', () => {
  for (const code of CODES)
    for (const endpoint of ENDPOINTS) {
      const { remedy } = refusal(endpoint, code, STATUS_OF[code])
      expect(['find_out', 'cancelled', 'changed_underway']).not.toContain(remedy)
    }
})

test('a picture that an upload node refused is never sent again with the same credential', () => {
  const allowed: Remedy[] = [
    'new_credential',
    'refused_by_node',
    'other_dimensions',
    'change_picture',
    'quota',
    'storage',
    'plan',
  ]
  for (const code of [...CODES, 'SOMETHING_ELSE'])
    for (const status of [200, 400, 401, 403, 404, 413, 429, 500, 503])
      expect(allowed).toContain(refusal('send', code, status).remedy)
})

test.each<[string, number, Remedy]>([
  ['DIMENSION_MISMATCH', 400, 'other_dimensions'],
  ['UNREADABLE_DIMENSION', 400, 'other_dimensions'],
  ['MISSING_DIMENSION', 400, 'other_dimensions'],
  ['FILE_TOO_LARGE', 400, 'change_picture'],
  ['FORBIDDEN', 403, 'refused_by_node'],
  ['SOMETHING_ELSE', 422, 'refused_by_node'],
  ['SOMETHING_ELSE', 200, 'refused_by_node'],
  ['RATE_LIMITED', 200, 'new_credential'],
  ['SOMETHING_ELSE', 500, 'new_credential'],
  ['SOMETHING_ELSE', 408, 'new_credential'],
  ['RATE_LIMITED', 429, 'new_credential'],
  ['TOO_BIG', 413, 'change_picture'],
])('%s of an upload node: %s %s', (code, status, remedy) => {
  expect(refusal('send', code, status).remedy).toBe(remedy)
})

test.each<[string, number, Remedy]>([
  ['INVALID_API_KEY', 401, 'key'],
  ['PLAN_NOT_SUPPORTED', 403, 'plan'],
  ['STORAGE_LIMIT_REACHED', 403, 'storage'],
  ['DAILY_LIMIT_REACHED', 429, 'quota'],
  ['RATE_LIMITED', 429, 'later'],
  ['NO_AVAILABLE_IO_NODE', 503, 'later'],
  ['DELETE_FAILED', 500, 'later'],
  ['NOT_FOUND', 404, 'gone'],
  ['FORBIDDEN', 403, 'not_permitted'],
  ['INVALID_PARAMS', 400, 'change_request'],
  ['KEY_EXPIRED', 401, 'key'],
  ['ALBUM_LOCKED', 403, 'not_permitted'],
  ['NO_SUCH_ROUTE', 404, 'change_request'],
  ['MAINTENANCE', 503, 'later'],
  ['SLOW_DOWN', 429, 'later'],
])('%s with %s: %s', (code, status, remedy) => {
  expect(refusal('delete', code, status).remedy).toBe(remedy)
})

test('a code with other characters than a code may have is made a code', () => {
  expect(refusal('list', 'no such\nthing!', 400).code).toBe('no_such_thing_')
  expect(refusal('list', '', 400).code).toBe('UNNAMED')
  expect(refusal('list', 'x'.repeat(500), 400).code).toHaveLength(64)
})

test('a picture may have been stored only when its last byte has left', () => {
  const silence = { kind: 'silence', code: 'HOST_UNREACHABLE', message: said('x') } as const
  expect(unanswered('send', { ...silence, left: 'nothing' }).remedy).toBe('new_credential')
  expect(unanswered('send', { ...silence, left: 'part' }).remedy).toBe('new_credential')
  expect(unanswered('send', { ...silence, left: 'all' }).remedy).toBe('find_out')
  expect(garbled('send', 'part', 502, said('x')).remedy).toBe('new_credential')
  expect(garbled('send', 'all', 502, said('x')).remedy).toBe('find_out')
  expect(redirected('send', 'all', 307, 'h:1').remedy).toBe('find_out')
  expect(cancelled('send', 'part').remedy).toBe('cancelled')
  expect(cancelled('send', 'all').remedy).toBe('find_out')
})

test('an album may have been made as soon as its request has left', () => {
  const silence = { kind: 'silence', code: 'HOST_UNREACHABLE', message: said('x') } as const
  expect(unanswered('create_album', { ...silence, left: 'nothing' }).remedy).toBe('later')
  expect(unanswered('create_album', { ...silence, left: 'all' }).remedy).toBe('find_out')
  expect(cancelled('create_album', 'nothing').remedy).toBe('cancelled')
  expect(cancelled('create_album', 'all').remedy).toBe('find_out')
})

test('requests that do no harm twice may be sent again', () => {
  for (const endpoint of ['upload', 'list', 'delete'] as const) {
    expect(garbled(endpoint, 'all', 502, said('x')).remedy).toBe('later')
    expect(cancelled(endpoint, 'all').remedy).toBe('cancelled')
    expect(redirected(endpoint, 'all', 301, 'h:1').remedy).toBe('change_request')
  }
})

test('an outage is told from a refusal of one request', () => {
  expect(isOutage(refusal('upload', 'RATE_LIMITED', 429))).toBe(true)
  expect(isOutage(refusal('upload', 'NO_AVAILABLE_IO_NODE', 503))).toBe(true)
  expect(isOutage(refusal('list', 'MAINTENANCE', 503))).toBe(true)
  expect(isOutage(garbled('list', 'all', 200, said('x')))).toBe(true)
  expect(isOutage(garbled('list', 'all', 404, said('x')))).toBe(true)
  expect(isOutage(garbled('list', 'all', 403, said('x')))).toBe(false)
  expect(isOutage(garbled('create_album', 'all', 403, said('x')))).toBe(false)
  expect(isOutage(garbled('upload', 'all', 403, said('x')))).toBe(false)
  expect(isOutage(garbled('upload', 'all', 404, said('x')))).toBe(true)
  expect(isOutage(garbled('upload', 'all', 502, said('x')))).toBe(true)
  expect(isOutage(refusal('delete', 'DELETE_FAILED', 500))).toBe(false)
  expect(isOutage(refusal('upload', 'DAILY_LIMIT_REACHED', 429))).toBe(false)
  expect(isOutage(refusal('upload', 'FILE_TOO_LARGE', 400))).toBe(false)
  expect(isOutage(redirected('list', 'all', 301, 'h:1'))).toBe(false)
  expect(isOutage(cancelled('list', 'all'))).toBe(false)
})
