import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { PROGRAM } from '../e2e/stage/stage.ts'

/** Where `albumd` is a command. */
const bin = mkdtempSync(join(tmpdir(), 'albumd-bin-'))
afterAll(() => rmSync(bin, { recursive: true }))
writeFileSync(join(bin, 'albumd'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`)
chmodSync(join(bin, 'albumd'), 0o755)

const PATH = `${bin}:${process.env.PATH}`
const run = (shell: string, script: string, ...args: string[]) =>
  execFileSync(shell, ['-c', script, shell, ...args], { encoding: 'utf8', env: { ...process.env, PATH } })
    .split('\n')
    .filter(Boolean)

/** What Tab offers after these words, the last being the one that is typed. Nothing: the shell offers files. */
const BASH = `source <(albumd completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _albumd
  printf '%s\\n' "\${COMPREPLY[@]}"; complete -p albumd`

/** Within a completion zsh sets `words` and CURRENT, and has the functions that the script calls. */
const ZSH = `compdef() {}; _files() { echo files }; _describe() { print -l -- "\${(@P)2}" }
  source <(albumd completion zsh); words=("$@"); CURRENT=$#; _albumd`

const has = (shell: string) => {
  try {
    return run(shell, 'true').length === 0
  } catch {
    return false
  }
}

describe.skipIf(!has('bash') && !process.env.CI)('completion in bash', () => {
  const offered = (...words: string[]) => run('bash', BASH, 'albumd', ...words)
  // Beside what is offered, that files are where nothing is.
  const files = 'complete -o bashdefault -o default -F _albumd albumd'

  // yargs writes -c as --c where two dashes were typed; both work.
  it.each([
    [['sy'], ['sync']],
    [
      ['sync', '--'],
      [
        '--log-level',
        '--version',
        '--help',
        '--config',
        '--c',
        '--dry-run',
        '--prune-ignored',
        '--quiet',
        '--json',
      ],
    ],
    [
      ['deletions', ''],
      ['list', 'approve', 'discard'],
    ],
    [['--log-level', 'd'], ['debug']],
    [['sync', '--config', ''], []],
    [['trust', ''], []],
    [['trust', '--j'], ['--json']],
  ])('%j: %j', (words, expected) => {
    expect(offered(...words)).toEqual([...expected, files])
  })
})

describe.skipIf(!has('zsh') && !process.env.CI)('completion in zsh', () => {
  const offered = (...words: string[]) => run('zsh', ZSH, 'albumd', ...words)

  it.each([
    [
      ['deletions', ''],
      ['list', 'approve', 'discard'],
    ],
    [['sync', '--config', ''], ['files']],
    [['trust', ''], ['files']],
  ])('%j: %j', (words, expected) => {
    expect(offered(...words)).toEqual(expected)
  })

  it('has each command with what it does', () => {
    expect(offered('')).toContain('resume:End a pause')
    expect(offered('resume', '--')).toContain('--json:Write one JSON object')
  })
})

describe.skipIf(!has('fish') && !process.env.CI)('completion in fish', () => {
  const offered = (line: string) =>
    run('fish', `albumd completion fish | source; complete --do-complete '${line}'`).map(
      word => word.split('\t')[0],
    )

  it.each([
    ['albumd deletions ', ['list', 'approve', 'discard']],
    ['albumd --log-level d', ['debug']],
    ['albumd sync --config /etc/os-rel', ['/etc/os-release']],
    ['albumd trust --j', ['--json']],
  ])('%s: %j', (line, expected) => {
    expect(offered(line)).toEqual(expected)
  })

  it('has each command with what it does', () => {
    const script = "albumd completion fish | source; complete --do-complete 'albumd resu'"
    expect(run('fish', script)).toEqual(['resume\tEnd a pause'])
  })
})
