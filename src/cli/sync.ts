import type { CommandModule } from 'yargs'
import type { Config } from '../config/schema.ts'
import type { MirrorPolicy } from '../sync/mirror-scans.ts'
import { configOption, readConfig, refuseMissingFolders } from './config-option.ts'
import { EXIT } from './exit-codes.ts'
import { onInterrupts } from './interrupts.ts'
import { onePass } from './one-pass.ts'
import { sayStateTrouble } from './say-state-trouble.ts'
import { count, printable, sizeInWords } from './wording.ts'

interface SyncArgs {
  config: string | undefined
  'dry-run': boolean
  'prune-ignored': boolean
  json: boolean
}

export function syncCommand(exit: (code: number) => void): CommandModule<object, SyncArgs> {
  return {
    command: 'sync',
    describe: 'One complete pass, then exit',
    builder: command =>
      command
        .options({
          ...configOption,
          'dry-run': {
            type: 'boolean',
            default: false,
            describe: 'Print the plan with reasons; change nothing anywhere, and do not ask the host',
          },
          'prune-ignored': {
            type: 'boolean',
            default: false,
            describe: 'Give up the images of pictures that an ignore rule hides',
          },
          json: { type: 'boolean', default: false, describe: 'One summary object on standard output' },
        })
        .example('$0 sync -c albumd.yaml', 'Mirror now')
        .example('$0 sync -c albumd.yaml --dry-run', 'See what it would do')
        .epilogue(
          'The images of pictures that this scan finds gone are deleted at the end of the pass, after every path was ' +
            'looked at again: deletions.grace is for run alone. What run has in grace keeps its grace, and holds apply. While ' +
            'run runs, it makes the pass, with its grace; Ctrl-C then ends only the watching. While albumd is paused, ' +
            'nothing is done but to say so (exit 3).',
        ),
    handler: async args => exit(args['dry-run'] ? await preview(args) : await sync(args)),
  }
}

async function sync({ config: flag, 'prune-ignored': prune, json }: SyncArgs): Promise<number> {
  return (await onePass(readConfig(flag), 'sync', { pruneIgnored: prune }, { json })).exitCode
}

async function preview({ config: flag, 'prune-ignored': prune, json }: SyncArgs): Promise<number> {
  const config = pruning(readConfig(flag), prune)
  refuseMissingFolders(config)
  const { previewPass } = await import('../daemon/preview.ts')
  const interrupts = onInterrupts()
  await sayStateTrouble(config)
  const plan = []
  const notes: string[] = []
  try {
    for await (const operation of previewPass(config, interrupts, line => notes.push(line))) {
      if (json) plan.push(operation)
      else {
        const what =
          'album' in operation
            ? `"${operation.album}"`
            : 'path' in operation
              ? operation.path
              : operation.mirror
        const size = 'size' in operation ? `, ${sizeInWords(operation.size)}` : ''
        const verb = operation.operation.replace('_', ' ')
        process.stdout.write(`${verb} ${printable(what)} (${printable(operation.reason)}${size})\n`)
        plan.push(null)
      }
    }
  } finally {
    interrupts.dispose()
  }
  if (json) print({ dry_run: true, plan, notes })
  else {
    const operations = plan.length === 0 ? 'nothing to do' : count(plan.length, 'operation')
    const lines = [...notes, `${operations}; nothing was changed, and the host was not asked`]
    process.stdout.write(`${lines.join('\n')}\n`)
  }
  return EXIT.inSync
}

/** What a person asks for once is part of the policy for as long as this command runs. */
function pruning(config: Config, pruneIgnored: boolean): Config {
  const mirrors = config.mirrors.map(mirror => ({ ...mirror, pruneIgnored }) satisfies MirrorPolicy)
  return { ...config, mirrors }
}

function print(summary: object): void {
  process.stdout.write(`${JSON.stringify(summary)}\n`)
}
