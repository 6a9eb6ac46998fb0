import { likelyKey } from '../../config/config-error.ts'
import { COMMANDS } from '../commands.ts'
import { EXIT } from '../exit-codes.ts'
import { Problem } from './problem.ts'
import { printable } from './wording.ts'

/** The problem with a command line in one line. `options`: the options of the named command. */
export function usageProblem(message: string, args: readonly string[], options: readonly string[]): Problem {
  const [first = ''] = args
  const named = COMMANDS.find(({ command }) => nameOf(command) === first)
  const help = named === undefined ? 'albumd --help' : `albumd ${first} --help`
  const unknown = /^Unknown arguments?: (.*)$/s.exec(message)?.[1]?.split(', ')
  const what = () => {
    if (named === undefined && first !== '' && !first.startsWith('-'))
      return `There is no command ${first}${orLikely(
        first,
        COMMANDS.map(({ command }) => nameOf(command)),
      )}`
    // yargs says how many operands are missing, but not which.
    if (named && message.startsWith('Not enough non-option arguments'))
      return `It is called as "albumd ${named.command}".`
    return unknown ? unknownInWords(unknown, args, options) : message
  }
  const line = printable(what().replace(/\s*\n\s*/g, ' '))
  return new Problem(EXIT.usage, `${line}${/[.?]$/.test(line) ? '' : '.'} See ${help}.`)
}

/** The options as they were typed. yargs removes the dashes, and names an option with a dash in it twice. */
function unknownInWords(
  unknown: readonly string[],
  args: readonly string[],
  options: readonly string[],
): string {
  const camel = new Set(unknown.filter(name => name.includes('-')).map(inCamelCase))
  const typed = unknown.filter(name => !camel.has(name)).map(name => [name, asTyped(name, args)] as const)
  const likely = typed.flatMap(([name, as]) => (as === name ? [] : (likelyKey(name, options) ?? [])))
  const meant = typed.length === 1 && likely[0] ? `; did you mean --${likely[0]}?` : ''
  return `Unknown argument${typed.length === 1 ? '' : 's'}: ${typed.map(([, as]) => as).join(', ')}${meant}`
}

function asTyped(name: string, args: readonly string[]): string {
  const isOption = args.some(arg => arg === `--${name}` || arg.startsWith(`--${name}=`))
  return isOption ? `--${name}` : name
}

function inCamelCase(name: string): string {
  return name.replace(/-+(.)/g, (_, letter: string) => letter.toUpperCase())
}

function orLikely(written: string, known: readonly string[]): string {
  const likely = likelyKey(written, known)
  return likely === null ? '' : `; did you mean ${likely}?`
}

function nameOf(command: string): string {
  return command.split(' ')[0]!
}
