import { expect, it } from 'vitest'
import { ownFailure, tooSlow } from '../../../src/remote/failures.ts'
import { resultOfRefusal } from '../../../src/sync/uploads/upload-job.ts'
import { because, inWords } from '../../../src/words/reasons.ts'

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
  expect(inWords(message)).toBe(
    'it would take 14 min at 57 KB/s, and an upload may take 10 min; it needs a faster line (or a higher uploads.bandwidth, if that is set), and is tried again by itself',
  )
})

it('one that made way for others stays pending', () => {
  const failure = ownFailure('send', 'GAVE_WAY', because('gave_way'))
  expect(resultOfRefusal(failure, hash, 1000)).toMatchObject({ kind: 'waits' })
})
