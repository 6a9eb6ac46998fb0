import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { PROGRAM } from '../e2e/stage/stage.ts'

/** Where `albumd` is a command. */
const bin = mkdtempSync(join(tmpdir(), 'albumd-bin-'))
afterAll(() => rmSync(bin, { recursive: true }))
writeFileSync(join(bin, 'albumd'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`)
chmodSync(join(bin, 'albumd'), 0o755)

const PATH = `${bin}:${process.env.PATH}`
const run = (shell: string, script: string) =>
  execFileSync(shell, ['-c', script], { encoding: 'utf8', env: { ...process.env, PATH } })

const has = (shell: string) => {
  try {
    return run(shell, 'true') === ''
  } catch {
    return false
  }
}

/** Between what is said of one line and of the next. */
const END = '--end--'

/** What Tab offers after each of these lines: of a line, the last word is the one that is typed. One process of the shell is
 * asked for all of them. `define`: what the program says once, and defines `offered`, which takes the words of a line. */
function offers(shell: string, define: string, lines: readonly (readonly string[])[]): string[][] {
  const asked = lines.map(words => `offered ${words.map(word => `'${word}'`).join(' ')}`)
  return run(shell, [define, ...asked].join(`\necho ${END}\n`))
    .split(`${END}\n`)
    .map(said => said.split('\n').filter(Boolean))
}

type Cases = (readonly [line: readonly string[], offered: readonly string[]])[]

it.skipIf(!has('bash') && !process.env.CI)('bash completes commands, their options and values', () => {
  const options = '--log-level --version --help --config --dry-run --prune-ignored --quiet --json'.split(' ')
  const cases: Cases = [
    [['sy'], ['sync']],
    [['sync', '--'], options],
    [
      ['deletions', ''],
      ['list', 'approve', 'discard'],
    ],
    [['--log-level', 'd'], ['debug']],
    [['sync', '--config', ''], []],
    [['trust', ''], []],
    [['trust', '--j'], ['--json']],
  ]
  const define = `source <(albumd completion bash); complete -p albumd
    offered() { COMP_WORDS=(albumd "$@"); COMP_CWORD=$#; _albumd; printf '%s\\n' "\${COMPREPLY[@]}"; }`
  const lines = cases.map(([line]) => line)
  expect(offers('bash', define, lines)).toEqual([
    // Beside what is offered, files are where nothing is.
    ['complete -o bashdefault -o default -F _albumd albumd'],
    ...cases.map(([, offered]) => offered),
  ])
})

it.skipIf(!has('zsh') && !process.env.CI)(
  'zsh completes them too, and has each command with what it does',
  () => {
    const cases: Cases = [
      [
        ['deletions', ''],
        ['list', 'approve', 'discard'],
      ],
      [['sync', '--config', ''], ['files']],
      [['trust', ''], ['files']],
      [[''], expect.arrayContaining(['resume:End a pause'])],
      [['resume', '--'], expect.arrayContaining(['--json:Write one JSON object'])],
    ]
    // Within a completion zsh sets `words` and CURRENT, and has the functions that the script calls.
    const define = `compdef() {}; _files() { echo files }; _describe() { print -l -- "\${(@P)2}" }
    source <(albumd completion zsh); offered() { words=(albumd "$@"); CURRENT=$(($# + 1)); _albumd }`
    const lines = cases.map(([line]) => line)
    expect(offers('zsh', define, lines)).toEqual([[], ...cases.map(([, offered]) => offered)])
  },
)

it.skipIf(!has('fish') && !process.env.CI)('fish does both', () => {
  const cases: Cases = [
    [['albumd deletions '], ['list', 'approve', 'discard']],
    [['albumd --log-level d'], ['debug']],
    [['albumd sync --config /etc/os-rel'], ['/etc/os-release']],
    [['albumd trust --j'], ['--json']],
    [['albumd resu'], ['resume\tEnd a pause']],
  ]
  const define = 'albumd completion fish | source; function offered; complete --do-complete "$argv"; end'
  const lines = cases.map(([line]) => line)
  const [nothing, ...offered] = offers('fish', define, lines)
  expect(nothing).toEqual([])
  expect(offered.slice(0, -1).map(words => words.map(word => word.split('\t')[0]))).toEqual(
    cases.slice(0, -1).map(([, words]) => words),
  )
  expect(offered.at(-1)).toEqual(['resume\tEnd a pause'])
})
