import { expect, it } from 'vitest'
import { ownFailure, tooSlow } from '../../../src/remote/failures.ts'
import { resultOfRefusal } from '../../../src/sync/uploads/upload-job.ts'
import { because, type Reason, said } from '../../../src/words/reasons.ts'
import { failure } from '../workshop.ts'

const HOUR_MS = 3_600_000
const hash = Buffer.alloc(32)

it('a picture that the line is too slow for is its own failure, tried again in an hour; the others go on', () => {
  const failure = tooSlow('upload', { ms: 840_000, bytesPerSecond: 57 * 1024 }, 600_000)
  const { message } = failure
  expect(resultOfRefusal(failure, hash, 1000)).toEqual({
    kind: 'failed',
    code: 'TOO_SLOW',
    message,
    retryAt: 1000 + HOUR_MS,
    hash,
  })
})

it.each([
  [0, 1],
  [1, 24],
  [2, 7 * 24],
  [9, 7 * 24],
])('a picture that a node refuses waits, after %i tries before, for %i h', (attempts, hours) => {
  const why = said('No holiday pictures.')
  const refusal = failure('refused_by_node', 'POLICY', 'send', {
    status: 422,
    message: because('refused_by_node', { why }),
  })
  const result = resultOfRefusal(refusal.failure, hash, 1000, attempts)
  expect(result).toMatchObject({ kind: 'failed', code: 'POLICY', retryAt: 1000 + hours * HOUR_MS })
  expect((result as { message: Reason }).message).toEqual(because('refused_by_node', { why }))
})

it('one that made way for others stays pending', () => {
  const failure = ownFailure('send', 'GAVE_WAY', because('gave_way'))
  expect(resultOfRefusal(failure, hash, 1000)).toMatchObject({ kind: 'waits' })
})
