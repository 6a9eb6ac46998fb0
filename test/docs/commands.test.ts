import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { declaredCommands } from '../../scripts/docs/declared.ts'
import { allPages, CHECKOUT } from './pages.ts'
import { pagesWithCommands } from './typed-commands.ts'

describe('the pages', async () => {
  const declared = await declaredCommands()
  const known = new Map(declared.flatMap(each => [each, ...each.commands]).map(each => [each.name, each]))
  const COMMON = ['config', 'c', 'log-level', 'help', 'version']

  it.each(pagesWithCommands())('$path names commands and options that are there', ({ commands }) => {
    const unknown = commands.filter(line => {
      const [, first = '', second = ''] = line.split(' ')
      if (first.startsWith('-')) return !COMMON.includes(first.replace(/^-+/, ''))
      const command = known.get(`${first} ${second}`) ?? known.get(first)
      const names = new Set([...COMMON, ...(command?.options.map(([name]) => name) ?? [])])
      const given = [...line.split(/ -- | \| /)[0]!.matchAll(/ --?([a-z][a-z-]*)/g)].map(([, name]) => name!)
      return command === undefined || given.some(name => !names.has(name.replace(/^no-/, '')))
    })
    expect(unknown).toEqual([])
  })

  it('name scripts and tests that are there', () => {
    const { scripts } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'))
    const text = allPages()
      .map(page => page.text)
      .join('\n')
    const names = [...text.matchAll(/\bnpm run (?:--silent )?([\w-]+)/g)].map(([, name]) => name!)
    expect(names.filter(name => !(name in scripts))).toEqual([])
    const tests = [...text.matchAll(/vitest run (test\/\S+?)[`\s]/g)].map(([, path]) => path!)
    expect(tests.length).toBeGreaterThan(2)
    expect(tests.filter(path => !existsSync(join(CHECKOUT, path)))).toEqual([])
  })
})
