import { expect, it } from 'vitest'
import { keysWithoutEffect } from '../../src/config/keys-without-effect.ts'
import { configText, parse } from './config-text.ts'

it('a config that leaves them out, or has their defaults, sets no key without effect', () => {
  const rest = 'deletions: {albums: one_by_one, grace: 1h}\nwatch: {rescan: "0 */6 * * *"}\n'
  expect(keysWithoutEffect(parse(configText({})))).toEqual([])
  expect(keysWithoutEffect(parse(configText({ rest })))).toEqual([])
})

it('keys without effect that are set to something else are named', () => {
  const rest = 'uploads: {concurrency: 2}\nstatus_page: {listen: 127.0.0.1:1}\n'
  expect(keysWithoutEffect(parse(configText({ rest })))).toEqual(['status_page.listen'])
})
