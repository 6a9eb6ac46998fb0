import { readFileSync } from 'node:fs'
import { EXIT_MEANINGS } from '../../src/cli/problem.ts'
import { version } from '../../src/daemon/package.ts'
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
import { type ManualPart, manual, partsOf } from './roff.ts'

const ALL = ['albumd(1)', 'albumd-config(5)', 'albumd.service(8)']

/** The manuals in man/, by their names. */
export async function manuals(): Promise<Record<string, string>> {
  return {
    'albumd.1': manual('albumd', 1, version, programParts(await declaredCommands())),
    'albumd-config.5': manual('albumd-config', 5, version, configParts()),
    'albumd.service.8': manual('albumd.service', 8, version, serviceParts()),
  }
}

function named(name: string, says: string): ManualPart {
  return { heading: 'NAME', text: `${name} - ${says}` }
}

function seeAlso(self: string): ManualPart {
  return { heading: 'SEE ALSO', text: ALL.filter(page => page !== self).join(', ') }
}

function programParts(commands: readonly DeclaredCommand[]): ManualPart[] {
  return [
    named('albumd', 'keep a folder of pictures and an image host the same'),
    { heading: 'SYNOPSIS', text: '**albumd** COMMAND [OPTION]…' },
    {
      heading: 'DESCRIPTION',
      text:
        'albumd uploads new pictures, replaces changed ones, and deletes those that were deleted here. Folders become ' +
        'albums. `albumd try` shows it with pictures and a host of its own, `albumd init` writes a config, `albumd sync ' +
        '--dry-run` tells what would be done, and `albumd run` stays and keeps it so.\n\n' +
        'Delivery addresses are public, and pictures carry their metadata: who knows the address of an image can see it, ' +
        'with the place where it was taken.',
    },
    { heading: 'WHAT ALL COMMANDS SHARE', text: page('reference/command-line.md').replace(/^# .*\n+/, '') },
    { heading: 'COMMANDS' },
    ...commands.flatMap(commandParts),
    {
      heading: 'EXIT STATUS',
      terms: Object.entries(EXIT_MEANINGS).map(([exit, meaning]) => [exit, `${meaning}.`]),
    },
    {
      heading: 'ENVIRONMENT',
      terms: [
        ['ALBUMD_CONFIG', 'The config, where no --config names one.'],
        ['ALBUMD_API_KEY', 'The key, where the config has no host.api_key_file.'],
        ['NO_COLOR', 'Set to anything: no colour.'],
      ],
    },
    {
      heading: 'FILES',
      terms: [
        [
          '~/.config/albumd/config.yaml, /etc/albumd/config.yaml',
          'The config; albumd-config(5) has its keys.',
        ],
        ['~/.local/state/albumd, /var/lib/albumd', 'The state. Keep a copy of it on another disk.'],
      ],
    },
    seeAlso('albumd(1)'),
  ]
}

function commandParts(command: DeclaredCommand): ManualPart[] {
  const { describe, operands, options, examples, notes, exits, commands } = command
  const lines = examples.map(([line, words]) => `${line}    # ${words}`)
  const given = [
    ...operands.map(([operand, declared]) => [operand, saidOf(declared)] as const),
    ...options
      .filter(([, declared]) => !SHARED.includes(declared))
      .map(([option, declared]) => [optionUsage(option, declared), saidOf(declared)] as const),
  ]
  const code = lines.length === 0 ? [] : [['```', ...lines, '```'].join('\n')]
  const ends = exits.length === 0 ? [] : [`Exit status: ${exits.join(', ')}.`]
  return [
    {
      heading: sharedUsage(command),
      isBelow: true,
      text: [`${describe}.`, ...notes, ...ends, ...code].join('\n\n'),
      terms: given,
    },
    ...commands.flatMap(commandParts),
  ]
}

function saidOf(declared: Declared): string {
  const { describe, choices = [] } = declared
  const usual = usualValue(declared)
  return `${describe ?? choices.join(', ')}.${usual === null ? '' : ` Left out: ${usual}.`}`
}

function configParts(): ManualPart[] {
  return [
    named('albumd-config', 'the config of albumd'),
    { heading: 'DESCRIPTION', text: `The config is YAML; "albumd init" writes one. ${SPELLING}` },
    ...configSections().map(({ name, describe, keys }) => ({
      heading: name.toUpperCase() || 'OTHERS',
      text: describe,
      terms: keys.map(({ name: key, describe: words, usual, example }) => {
        const more = [
          usual === null ? [] : `Left out: ${usual}.`,
          example === null ? [] : `Example: ${example}`,
        ]
        return [key, [words, ...more.flat()].join(' ')] as const
      }),
    })),
    seeAlso('albumd-config(5)'),
  ]
}

function serviceParts(): ManualPart[] {
  return [
    named('albumd.service', 'albumd as a service of systemd'),
    {
      heading: 'DESCRIPTION',
      text: '`sudo albumd service install` puts the unit in its place, and starts it where config and key are there.',
    },
    ...partsOf(page('how-to/service.md')),
    {
      heading: 'FILES',
      terms: [
        ['/etc/albumd/config.yaml', 'The config.'],
        ['/etc/albumd/api-key', "The key, root's and 0600."],
        ['/var/lib/albumd', 'The state.'],
      ],
    },
    seeAlso('albumd.service(8)'),
  ]
}

function page(path: string): string {
  return readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8')
}
