import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileRules, hidingRule, type IgnoreRules } from '../../src/local/ignore-rules.ts'
import { plant, tempFolder } from '../temp-folder.ts'
import { childPath, laterDisk, walk } from './walk.ts'

function hides(path: string, ...chain: [base: string, text: string][]): boolean {
  const rules = compileRules(chain.map(([base, text]) => ({ base, text })))
  return path.endsWith('/') ? rules.hides(path.slice(0, -1), 'folder') : rules.hides(path, 'file')
}

describe('compileRules', () => {
  it('takes rules relative to the folder that they stand in', () => {
    expect(hides('a/x.png', ['a', '/x.png'])).toBe(true)
    expect(hides('a/b/x.png', ['a', '/x.png'])).toBe(false)
    expect(hides('a/b/x.png', ['a', 'x.png'])).toBe(true)
    expect(hides('b/x.png', ['a', 'x.png'])).toBe(false)
    expect(hides('a/', ['a', '*'])).toBe(false)
  })

  it('lets a deeper file show again what an outer one hides', () => {
    expect(hides('a/x.png', ['', '*.png'], ['a', '!x.png'])).toBe(false)
    expect(hides('a/y.png', ['', '*.png'], ['a', '!x.png'])).toBe(true)
    expect(hides('a/b/x.png', ['', 'b/'], ['a', '!b/'])).toBe(false)
  })

  it('tells files from folders, and the case of letters', () => {
    expect(hides('x/', ['', 'x/'])).toBe(true)
    expect(hides('x', ['', 'x/'])).toBe(false)
    expect(hides('X.PNG', ['', '*.png'])).toBe(false)
  })

  it('reads comments, blank lines, CRLF and a byte order mark as git does', () => {
    expect(hides('x.png', ['', '\u{FEFF}x.png\r\n#y.png\r\n  \r\n'])).toBe(true)
    expect(hides('b/x.png', ['b', '\u{FEFF}#\n\n!\n/\n!/\n  \nx.png\r'])).toBe(true)
    expect(hides('b/y/', ['b', '\u{FEFF}#\n\n!\n/\n!/\n  \nx.png\r'])).toBe(false)
  })

  it('leaves out folders of the system, unless a rule has them back', () => {
    for (const name of ['@eaDir', '#recycle', '$RECYCLE.BIN', 'System Volume Information', 'lost+found']) {
      expect(hides(`${name}/`)).toBe(true)
      expect(hides(`a [b]/${name}/`, ['', '*.tmp'])).toBe(true)
      expect(hides(`a/${name}/`, ['', `!${name}/`])).toBe(false)
      expect(hides(`a/${name}/`, ['a', `!${name}/`])).toBe(false)
      expect(hides(`a/${name}/`, ['b', `!${name}/`])).toBe(true)
      expect(hides(`a/${name}`)).toBe(false)
    }
    expect(hidingRule([], 'a/@eaDir', 'folder')).toBe('system')
    expect(hidingRule([{ base: '', text: '!@eaDir/' }], 'a/@eaDir', 'folder')).toBe(null)
    expect(hidingRule([{ base: '', text: '@eaDir/' }], 'a/@eaDir', 'folder')).toMatchObject({
      link: 0,
      line: 1,
    })
  })

  it('gives equal chains equal fingerprints, and others others', () => {
    const print = (...chain: IgnoreRules[]) => compileRules(chain).fingerprint
    const one = { base: 'a', text: '*.png' }
    expect(print(one)).toBe(print({ ...one }))
    const others = [
      print(),
      print(one),
      print({ ...one, base: 'b' }),
      print({ ...one, text: '*' }),
      print(one, one),
    ]
    expect(new Set(others).size).toBe(others.length)
  })

  it('survives rules that are too large to be understood, and keeps the others', () => {
    const text = `${'?'.repeat(2 ** 20)}\n${'a'.repeat(2 ** 20)}\n*.png`
    expect(hides('ж/x.png', ['', text])).toBe(true)
    expect(hides('x.gif', ['', text])).toBe(false)
  })

  it('never throws, whatever the rules and the names', () => {
    const odd = fc.string({ unit: fc.constantFrom(...'ab/*?[]!#\\ -^(){}$.+|:\t\r\n\u{FEFF}\u{E000}é😀') })
    const name = odd.map(text => text.replaceAll('/', '')).filter(text => !['', '.', '..'].includes(text))
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map(names => names.join('/'))
    fc.assert(
      fc.property(odd, odd, path, name, (outer, inner, base, below) => {
        const rules = compileRules([
          { base: '', text: outer },
          { base, text: inner },
        ])
        rules.hides(`${base}/${below}`, 'file')
        rules.hides(`${base}/${below}`, 'folder')
      }),
      { numRuns: 2000 },
    )
  })
})

// Of letters beyond ASCII git counts the bytes, `ignore` the characters, as a person does: none stands alone here.
const FOLDERS = ['a', 'b', 'a b', '[x]', 'c*', 'back\\', '#d', 'end ', 'été', '{}', 'new\nline']
const FILES = [
  'a.png',
  'b.png',
  '!c.png',
  '#d.png',
  '[x].png',
  'end .png',
  'a*.png',
  'back\\slash.png',
  'été.png',
]
const SEGMENTS = [
  ...[
    '*',
    '**',
    '***',
    '?',
    '[ab]',
    '[!a]',
    '[a-c]*',
    'a',
    'b',
    'a b',
    'c*',
    'c\\*',
    '\\[x\\]',
    'back\\\\',
    '\\#d',
  ],
  ...[
    '*.png',
    'a.png',
    '?.png',
    'a*',
    '\\!c.png',
    '#d.png',
    'end\\ ',
    'été',
    'é*',
    '{}',
    '[[:alpha:]].png',
    'b.pn[g',
  ],
]

/** A tree's files, the text of the ignore file in each folder ('' is the root), and the config's rules. */
interface Planted {
  files: string[]
  ignoreFiles: Map<string, string>
  config: string
}

const planted: fc.Arbitrary<Planted> = (() => {
  const folder = fc.array(fc.constantFrom(...FOLDERS), { maxLength: 3 }).map(names => names.join('/'))
  const file = fc.tuple(folder, fc.constantFrom(...FILES)).map(([path, name]) => childPath(path, name))
  const pattern = fc
    .tuple(
      fc.constantFrom('', '', '!'),
      fc.constantFrom('', '', '/'),
      fc.array(fc.constantFrom(...SEGMENTS), { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', '', '/', ' ', '/ ', '\r'),
    )
    .map(([not, root, segments, end]) => not + root + segments.join('/') + end)
  const text = fc.array(pattern, { maxLength: 4 }).map(lines => lines.join('\n'))
  return fc.array(file, { minLength: 4, maxLength: 16 }).chain(files => {
    const folders = new Set(files.flatMap(foldersAbove))
    return fc.record({
      files: fc.constant(files),
      ignoreFiles: fc
        .array(fc.tuple(fc.constantFrom(...folders), text), { maxLength: 4 })
        .map(all => new Map(all)),
      config: text,
    })
  })
})()

function foldersAbove(file: string): string[] {
  const names = file.split('/')
  return names.map((_, depth) => names.slice(0, depth).join('/'))
}

/** What git sees in each of these folders, with // behind each: one process of ours for many of git's. */
const LIST = `for top in "$0" "$@"
do
  git -c core.excludesFile="$top.config" --work-tree="$top" ls-files -z --others --exclude-standard
  printf '//\\0'
done`

const gitIsMissing = spawnSync('git', ['--version']).status !== 0

describe.skipIf(gitIsMissing && !process.env.CI)('ignore files', () => {
  it('hide what git would not see', () => {
    const root = tempFolder()
    const run = (command: string, ...args: string[]) =>
      execFileSync(command, args, {
        cwd: root,
        env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      }).toString()
    run('git', 'init', '--quiet', '--template=')
    fc.assert(
      fc.property(fc.array(planted, { minLength: 10, maxLength: 10 }), trees => {
        const tops = trees.map(({ files, ignoreFiles, config }, n) => {
          const top = `${root}/${n}`
          rmSync(top, { recursive: true, force: true })
          plant(top, Object.fromEntries(files.map(path => [path, 'a'])))
          for (const [path, text] of ignoreFiles)
            for (const name of ['.albumdignore', '.gitignore'])
              writeFileSync(`${top}/${childPath(path, name)}`, text)
          writeFileSync(`${top}.config`, config)
          return top
        })
        const listed = run('sh', '-c', LIST, ...tops).split('//\0')
        for (const [n, { config }] of trees.entries()) {
          const seen = [...walk(laterDisk, tops[n]!, [{ base: '', text: config }])].flatMap(([path, look]) =>
            look.files.map(({ name }) => childPath(path, name)),
          )
          const pictures = listed[n]!.split('\0').filter(path => path.endsWith('.png'))
          expect(seen.sort()).toEqual(pictures.sort())
        }
      }),
      { numRuns: 20 },
    )
  })
})
