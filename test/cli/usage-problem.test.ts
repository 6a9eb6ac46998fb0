import { expect, it } from 'vitest'
import { usageProblem } from '../../src/cli/words/usage-problem.ts'
import { runProgram } from '../e2e/stage/stage.ts'
import { tempFolder } from '../temp-folder.ts'

const OPTIONS = ['config', 'c', 'dry-run', 'json']
const said = (message: string, ...args: string[]) => usageProblem(message, args, OPTIONS).message

it('names the command that was likely meant, and leaves its options for later', () => {
  const status = 'There is no command statsu; did you mean status? See albumd --help.'
  expect(said('Unknown argument: statsu', 'statsu')).toBe(status)
  expect(said('Unknown arguments: json, statsu', 'statsu', '--json')).toBe(status)
  expect(said('Unknown argument: x\ny', 'x\ny')).toBe('There is no command x y. See albumd --help.')
})

it('names an option as it was typed, once, and the one that was likely meant', () => {
  expect(said('Unknown arguments: dry-runn, dryRunn', 'sync', '--dry-runn=x')).toBe(
    'Unknown argument: --dry-runn; did you mean --dry-run? See albumd sync --help.',
  )
  expect(said('Unknown arguments: foo, bar', 'sync', 'bar', '--foo')).toBe(
    'Unknown arguments: --foo, bar. See albumd sync --help.',
  )
})

it('knows the options of each command', async () => {
  expect(await runProgram(['ls', '--formt', 'json'], tempFolder())).toEqual({
    code: 2,
    out: '',
    err: 'albumd: Unknown argument: --formt; did you mean --format? See albumd ls --help.\n',
  })
})
