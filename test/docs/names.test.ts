import { expect, it } from 'vitest'
import { configSections } from '../../scripts/docs/config-keys.ts'
import { GONE_KEYS } from '../../src/config/gone-keys.ts'
import { LOG_EVENTS } from '../../src/daemon/report/log.ts'
import { allPages } from './pages.ts'

const pages = allPages().filter(({ path }) => path !== 'ARCHITECTURE.md')

const sections = configSections()
const keys = new Set(sections.flatMap(({ keys }) => keys.map(({ name }) => name.replace('[]', ''))))
const names = sections.map(({ name }) => name).filter(Boolean)

it('name keys of the config that are there', () => {
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/`([a-z_]+)\.([a-z_.]+)(?::[^`]*)?`/g)]
      .filter(([, section]) => names.includes(section!))
      .map(([, section, key]) => ({ path, key: `${section}.${key}` })),
  )
  expect(named.length).toBeGreaterThan(20)
  const isSection = (key: string) => [...keys].some(known => known.startsWith(`${key}.`))
  const isTold = (path: string, key: string) => path === 'CHANGELOG.md' && key in GONE_KEYS
  expect(named.filter(({ path, key }) => !keys.has(key) && !isSection(key) && !isTold(path, key))).toEqual([])
})

it('name events of the log that are there', () => {
  const { text } = pages.find(({ path }) => path === 'docs/how-to/log-lines.md')!
  const named = [...text.matchAll(/`([a-z]+(?:_[a-z]+)+|trouble)`/g)].map(([, event]) => event!)
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter(event => !(event in LOG_EVENTS))).toEqual([])
})
