import { expect, it } from 'vitest'
import { showStep, stepInWords, wait } from '../../../src/daemon/report/step.ts'
import { because, type Reason } from '../../../src/words/reasons.ts'

const END = Date.parse('2026-11-30T13:00:00Z')
const inWords = (why: Reason, asOf: number | null = null) =>
  stepInWords(showStep(wait(why, END, asOf))).replace(/20[\d-]+ [\d:]+ [+-]\d\d:\d\d/g, 'TIME')

it('says in a sentence what comes at the end of a wait', () => {
  expect(inWords(because('all_paused'))).toMatch(/; to go on before TIME: albumd resume$/)
  expect(inWords(because('outside_hours'))).toMatch(/^uploads wait for .* until TIME$/)
  expect(inWords(because('grace_runs', { of: 'image', ms: null }))).toMatch(
    /^the image is deleted .*, at TIME$/,
  )
  expect(inWords(because('tried_again'))).toBe('albumd tries again at TIME')
  // Any other reason.
  expect(inWords(because('empty_yet'), END)).toMatch(/being written \(as of TIME\); next try at TIME$/)
})
