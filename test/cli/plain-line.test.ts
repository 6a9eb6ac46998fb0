import { describe, expect, it } from 'vitest'
import yargs from 'yargs'
import { COMMANDS } from '../../src/cli/commands.ts'
import { logLevelOption, yargsModule } from '../../src/cli/options.ts'
import { plainArguments } from '../../src/cli/plain-line.ts'

const commandOf = (line: readonly string[]) => COMMANDS.find(({ name }) => name === line[0])!

async function plain(line: readonly string[]) {
  const command = commandOf(line)
  return plainArguments(command, await command.load(), line.slice(1))
}

/** What yargs gives the command, without the names that only yargs knows. */
async function byYargs(line: readonly string[]) {
  const command = commandOf(line)
  const { builder } = await command.load()
  let given: object = {}
  const handler = async (args: object) => {
    given = args
  }
  await yargs()
    .parserConfiguration({ 'camel-case-expansion': false })
    .options(logLevelOption)
    .command(yargsModule(command, { builder, handler }))
    .strict()
    .parseAsync([...line])
  const own = Object.entries(given).filter(
    ([name, value]) => !['_', '$0', 'c'].includes(name) && value !== undefined,
  )
  return Object.fromEntries(own)
}

describe('a plain line gives a command what yargs gives it', () => {
  it.each([
    ['status'],
    ['status', '--json', '-c', 'albumd.yaml'],
    ['sync', '--dry-run', '--config', 'a.yaml', '--prune-ignored', '--log-level', 'debug'],
    ['status', '--config=a.yaml'],
    ['url', 'Holiday/a b.jpg', '--format', 'markdown', '--json'],
    ['url', '--json', '12', '-c', '1'],
    ['ls'],
    ['ls', 'Holiday', '--format', 'json'],
    ['deletions', 'approve', 'a.png'],
    ['retry', '--resend', '1e3'],
    ['restore', '/tmp/x', '--log-level', 'warn'],
    ['completion'],
    ['completion', 'zsh'],
    ['run'],
    ['init', '--base-url', 'http://x'],
    ['host', '--data', 'd'],
  ])('%j', async (...line) => {
    expect(await plain(line)).toEqual(await byYargs(line))
  })
})

describe('a line that yargs must read is not plain', () => {
  it.each([
    ['status', '--help'],
    ['status', '-h'],
    ['status', '--version'],
    ['status', '--jsonn'],
    ['status', '--json', '--json'],
    ['status', '--json=true'],
    ['status', '--no-json'],
    ['status', 'more'],
    ['status', '-c'],
    ['status', '-c', '--json'],
    ['status', '-c', ''],
    ['status', '--c', 'a.yaml'],
    ['status', '--log-level', 'loud'],
    ['url'],
    ['url', ''],
    ['url', 'a', 'b'],
    ['url', '--', 'a'],
    ['ls', '--format', 'yaml'],
    ['ls', '--path', 'a'],
    ['deletions'],
    ['deletions', 'forget'],
    ['service', 'status'],
    ['init', '--folder', 'a'],
    ['init', '--no-check'],
  ])('%j', async (...line) => {
    expect(await plain(line)).toBeNull()
  })
})
