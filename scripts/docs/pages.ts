import { EXIT_MEANINGS } from '../../src/cli/problem.ts'
import { LOG_EVENTS } from '../../src/daemon/report/log.ts'
import { Metrics } from '../../src/page/metrics.ts'
import { configSections, SPELLING } from './config-keys.ts'
import {
  type Declared,
  type DeclaredCommand,
  declaredCommands,
  optionUsage,
  SHARED,
  sharedUsage,
  usualValue,
} from './declared.ts'
import { jsonPage } from './json-page.ts'
import { code, page, table } from './markdown.ts'
import { source } from './sources.ts'

/** The pages of docs/reference that are written from the code, by their names. */
export async function referencePages(): Promise<Record<string, string>> {
  const commands = await declaredCommands()
  return {
    'commands.md': commandsPage(commands),
    'config.md': configPage(),
    'exit-codes.md': exitCodesPage(commands),
    'log-events.md': logEventsPage(),
    'metrics.md': metricsPage(),
    'json.md': jsonPage(),
  }
}

function commandsPage(commands: readonly DeclaredCommand[]): string {
  return page(
    'Commands',
    'For whoever types or scripts a command. `albumd --help` lists them all. `--config`, `--quiet`, `--json` and how paths are ' +
      'written are on [a page of their own](command-line.md), and so are the [exit codes](exit-codes.md).',
    ...commands.flatMap(commandParts),
  )
}

function commandParts(command: DeclaredCommand): string[] {
  const { name, describe, operands, options, examples, notes, commands } = command
  const own = options.filter(([, declared]) => !SHARED.includes(declared))
  const given = [
    ...operands.map(([operand, declared]) => `- ${code(operand)}: ${saidOf(declared)}`),
    ...own.map(([option, declared]) => `- ${code(optionUsage(option, declared))}: ${saidOf(declared)}`),
  ]
  const lines = examples.map(([line, words]) => `${line}    # ${words}`)
  return [
    `${name.includes(' ') ? '###' : '##'} ${name}`,
    `${code(sharedUsage(command))}: ${describe}.`,
    ...(given.length > 0 ? [given.join('\n')] : []),
    ...(lines.length > 0 && commands.length === 0 ? [['```sh', ...lines, '```'].join('\n')] : []),
    ...notes,
    ...commands.flatMap(commandParts),
  ]
}

function saidOf(declared: Declared): string {
  const { describe = '', choices, type } = declared
  const usual = usualValue(declared)
  const said = describe || (choices ?? []).join(', ')
  return usual === null || type === 'boolean' ? said : `${said}. Left out: ${usual}`
}

function exitCodesPage(commands: readonly DeclaredCommand[]): string {
  const ending = (exit: number) =>
    exit <= 2
      ? 'every command'
      : commands
          .flatMap(each => (each.commands.length > 0 ? each.commands : [each]))
          .filter(({ exits }) => exits.includes(exit))
          .map(({ name }) => code(name))
          .join(', ')
  return page(
    'Exit codes',
    'For scripts.',
    table(
      ['code', 'meaning', 'commands'],
      Object.entries(EXIT_MEANINGS).map(([exit, meaning]) => [exit, meaning, ending(Number(exit))]),
    ),
    'What is left (3) may be pictures that failed or are uncertain, deletions that are held or in grace, a used-up quota, a ' +
      'guarded folder, an endpoint that the plan does not have, or a host that is away; `albumd status` says which, and itself ' +
      'exits with 0.\n\n' +
      'Where the folder of a mirror is missing or can not be read, a command that ends, such as `sync`, does nothing for any mirror ' +
      'and exits with 2, while `run` guards that mirror, uploads for the others, and deletes nothing. With paths, `put` and `sync` ' +
      'need only the mirrors of these paths.\n\n' +
      'A command that finds another at work waits for its end, and ends with 4 where one stays for more than 10 s. ' +
      'It does not wait for `run`, which carries it out.',
  )
}

function configPage(): string {
  const sections = configSections()
  const parts = sections.flatMap(({ name, describe, keys }) => [
    `## ${name || 'Others'}`,
    describe,
    ...keys.flatMap(({ name: key, describe: words, values, usual, example }) => [
      `### ${key}`,
      [
        words,
        ...(values.every(value => words.includes(value)) ? [] : [`One of: ${values.join(', ')}.`]),
        ...(usual === null ? [] : [`Left out: ${code(usual)}.`]),
        ...(example === null ? [] : [`Example: ${code(example)}.`]),
      ].join(' '),
    ]),
  ])
  return page(
    'Config',
    `For whoever writes a config. It is YAML. [How to write it, and where it lies](../how-to/config.md). ${SPELLING}`,
    ...parts,
  )
}

function logEventsPage(): string {
  const fields = eventFields()
  return page(
    'Log events',
    'For programs that read the log. Each line has an `event`, and that keeps its name. As JSON a line has `level` (20 debug, 30 info, 40 warn, ' +
      '50 error), `time` (UTC), `event`, `msg` for people, and the fields below. Paths (`path`) are below the folder of ' +
      '`mirror`. [Which ones ask for a person](../how-to/log-lines.md).',
    table(
      ['event', 'level', 'when', 'fields'],
      Object.entries(LOG_EVENTS).map(([event, [level, words]]) => [
        code(event),
        level,
        words,
        (fields.get(event) ?? []).map(code).join(', '),
      ]),
    ),
  )
}

/** The fields of each event, from the types that declare the events. */
function eventFields(): Map<string, string[]> {
  const sources = ['src/sync/pass-events.ts', 'src/daemon/events.ts', 'src/daemon/report/log.ts']
    .map(source)
    .join('\n')
  const declared = sources.matchAll(/\{\s*event: '(\w+)'([^}]*)\}/g)
  return new Map(
    [...declared].map(([, event, own]) => [
      event!,
      [...own!.matchAll(/\b(\w+)\??: /g)].map(([, name]) => name!),
    ]),
  )
}

function metricsPage(): string {
  const rows = new Metrics(() => 0)
    .declared()
    .map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(', '), help])
  return page(
    'Metrics',
    'For Prometheus and the like, at `/metrics` of the [status page](../how-to/status-page.md). Counters begin at 0 when albumd starts. ' +
      'The label `mirror` is the folder of a mirror.',
    table(['metric', 'type', 'labels', 'what it counts'], rows),
  )
}
