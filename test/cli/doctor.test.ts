import { expect, it } from 'vitest'
import { findingsInWords } from '../../src/cli/commands/doctor.ts'
import type { Finding } from '../../src/daemon/doctor/finding.ts'

const found = (check: Finding['check'], status: Finding['status'], remedy: string | null = null): Finding => {
  return { check, status, message: `of ${check}`, remedy }
}

it('doctor begins with a sum, and tells what passed only where all is asked for', () => {
  const findings = [found('config', 'pass'), found('clock', 'warn', 'Set it'), found('host', 'pass')]
  const told = (all: boolean) => findingsInWords(findings, false, all)
  expect(told(false)).toEqual(['2 passed, 1 warning', expect.stringMatching(/^warn .*of clock\n +→ Set it$/)])
  expect(told(true)).toHaveLength(4)
  expect(findingsInWords([...findings, found('tls', 'fail')], true, false)[0]).toBe(
    'broken off; so far 2 passed, 1 warning, 1 failed',
  )
})
