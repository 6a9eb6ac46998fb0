import { expect, it } from 'vitest'
import { partsOf } from '../../bench/options.ts'

it('the bench runs the parts that are named, or all that do not take very long', () => {
  const scan = { name: 'scan', about: 'what a look costs' }
  const upload = { name: 'upload', about: 'what it takes to send' }
  const drill = { name: 'drill', about: 'what takes long', onlyNamed: true } as const
  const known = [scan, upload, drill]
  expect(partsOf(known, ['upload'])).toEqual([upload])
  expect(partsOf(known, [])).toEqual([scan, upload])
  expect(partsOf(known, ['drill'])).toEqual([drill])
})
