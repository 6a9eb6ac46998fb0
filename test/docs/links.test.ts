import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allPages, CHECKOUT } from './pages.ts'

const pages = allPages()

describe('the pages', () => {
  it('are some, with README among them', () => {
    expect(pages.map(({ path }) => path)).toContain('README.md')
    expect(pages.length).toBeGreaterThan(20)
  })

  it.each(pages)('$path leads to places that are there', ({ path, text }) => {
    const dead = [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => target!)
      .filter(target => !/^https?:/.test(target) && !leads(path, target))
    expect(dead).toEqual([])
  })

  it('are each reached from README', () => {
    const reached = new Set(['README.md'])
    for (const path of reached)
      for (const { text } of pages.filter(page => page.path === path))
        for (const [, target] of prose(text).matchAll(/\]\(([^)\s#]+\.md)[^)]*\)/g))
          reached.add(join(dirname(path), target!))
    expect(pages.map(({ path }) => path).filter(path => !reached.has(path))).toEqual([])
  })

  it('README has fewer than 1,000 words', () => {
    const { text } = pages.find(({ path }) => path === 'README.md')!
    expect(text.split(/\s+/).filter(Boolean).length).toBeLessThan(1000)
  })
})

/** The text without its code. */
function prose(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '')
}

function leads(from: string, target: string): boolean {
  const [path, anchor] = target.split('#') as [string, string?]
  const file = path === '' ? join(CHECKOUT, from) : join(CHECKOUT, dirname(from), path)
  if (!existsSync(file)) return false
  return anchor === undefined || anchors(readFileSync(file, 'utf8')).includes(anchor)
}

/** The anchors that a forge makes of the headings. */
function anchors(text: string): string[] {
  return [...prose(text).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
