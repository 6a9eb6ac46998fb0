import { describe, expect, it } from 'vitest'
import type { MirrorStatus } from '../../../src/daemon/report/mirror-status.ts'
import { verdictOn } from '../../../src/daemon/report/status.ts'
import type { HostFailure } from '../../../src/remote/host.ts'
import { said } from '../../../src/words/reasons.ts'
import { mirrorInSync } from './mirror-status.ts'

function status(changes: Partial<MirrorStatus> = {}): { mirrors: MirrorStatus[] } {
  const left_out = { format: 3, ignored: 3, hidden: 3, empty: 3, links: 3 }
  return { mirrors: [{ ...mirrorInSync(5), left_out, left_out_with_image: 3, ...changes }] }
}

const failure = (remedy: HostFailure['remedy'], endpoint: HostFailure['endpoint']): HostFailure => ({
  remedy,
  endpoint,
  code: 'X',
  message: said('x'),
})

describe('the verdict on a pass', () => {
  it('is in_sync when nothing is left to do, also with files that are left out', () => {
    expect(verdictOn(status(), [])).toBe('in_sync')
  })

  it.each([
    { state: 'guarded' },
    { pending_uploads: 1 },
    { pending_deletions: 1 },
    { held_deletions: 1 },
    { failed: 1 },
    { uncertain: 1 },
    { gone_on_host: 1 },
  ] as const)('is left for %j', changes => {
    expect(verdictOn(status(changes), [])).toBe('left')
  })

  it('is left where the host ended the pass, except for an endpoint outside the plan that nothing waits for', () => {
    expect(verdictOn(status(), [failure('quota', 'upload')])).toBe('left')
    expect(verdictOn(status(), [failure('plan', 'delete')])).toBe('in_sync')
    expect(verdictOn(status({ pending_deletions: 1 }), [failure('plan', 'delete')])).toBe('left')
  })

  it('is refused for the key, and for a plan that has neither uploads nor listings', () => {
    expect(verdictOn(status(), [failure('key', 'list')])).toBe('refused')
    expect(verdictOn(status(), [failure('plan', 'list')])).not.toBe('refused')
    expect(verdictOn(status(), [failure('plan', 'list'), failure('plan', 'upload')])).toBe('refused')
  })
})
