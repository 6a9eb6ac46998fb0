import type { CommandModule } from 'yargs'
import type { ShownDeletion } from '../daemon/deeds/deletions.ts'
import { carryOut, silently } from './carry-out.ts'
import { configOption, readConfig } from './config-option.ts'
import { EXIT } from './exit-codes.ts'
import { onInterrupts } from './interrupts.ts'
import { pathArgument } from './path-argument.ts'
import { sayStateTrouble } from './say-state-trouble.ts'
import { count, printable, sizeInWords } from './wording.ts'

const ACTIONS = ['list', 'approve', 'discard'] as const

interface DeletionsArgs {
  action: (typeof ACTIONS)[number]
  path: string | undefined
  config: string | undefined
  json: boolean
}

export function deletionsCommand(exit: (code: number) => void): CommandModule<object, DeletionsArgs> {
  return {
    command: 'deletions <action> [path]',
    describe: 'Held deletions: look, let them go ahead (not to be undone), or keep the images for good',
    builder: command =>
      command
        .positional('action', { choices: ACTIONS, demandOption: true })
        .positional('path', { type: 'string', describe: 'Only what is held at and below this path' })
        .options({
          ...configOption,
          json: { type: 'boolean', default: false, describe: 'One object on standard output' },
        })
        .example('$0 deletions list', 'What would be deleted, and why it is held')
        .example('$0 deletions approve Holiday', 'Let what was below Holiday go'),
    handler: async args => exit(await settle(args)),
  }
}

async function settle({ action, path, config: flag, json }: DeletionsArgs): Promise<number> {
  const config = readConfig(flag)
  const at = pathArgument(path)
  if (action === 'list') {
    await sayStateTrouble(config)
    const { listHeld } = await import('../daemon/held-deletions.ts')
    const { showDeletion } = await import('../daemon/deeds/deletions.ts')
    const { readState } = await import('../daemon/status.ts')
    tell(
      readState(config, synced => listHeld(config, synced, at).map(showDeletion)),
      action,
      path,
      json,
    )
    return EXIT.inSync
  }
  const interrupts = onInterrupts()
  try {
    const { held } = await carryOut(config, 'deletions', { action, path: at }, silently, interrupts)
    tell(held, action, path, json)
  } finally {
    interrupts.dispose()
  }
  return EXIT.inSync
}

const BEFORE = {
  list: null,
  approve: 'to be deleted at the next sync; this can not be undone:',
  discard: 'to be kept on the host for good:',
}

const AFTERWARDS = {
  list: 'is held. "albumd deletions approve" lets it go, "discard" keeps it for good.',
  approve: 'is approved, and goes at the next sync.',
  discard: 'stays on the host for good.',
}

const WHY = {
  deleted: 'gone from the disk',
  superseded: 'an older version',
  ignored: 'hidden by an ignore rule',
}

/** What it is about. */
function tell(
  held: readonly ShownDeletion[],
  action: DeletionsArgs['action'],
  path: string | undefined,
  json: boolean,
): void {
  if (json) return void process.stdout.write(`${JSON.stringify({ action, deletions: held })}\n`)
  const where = path === undefined ? '' : ` at or below ${printable(path)}`
  if (held.length === 0) return void process.stdout.write(`nothing is held${where}\n`)
  if (BEFORE[action]) process.stdout.write(`${BEFORE[action]}\n`)
  for (const { path, reason, size, since, cdn_url } of held) {
    const why = WHY[reason]
    process.stdout.write(
      `${printable(path)} (${why}, ${sizeInWords(size)}, since ${since})  ${printable(cdn_url ?? 'delivery address not known')}\n`,
    )
  }
  process.stdout.write(`${count(held.length, 'image')}: each ${AFTERWARDS[action]}\n`)
}
