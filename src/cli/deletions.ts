import { resolve } from 'node:path'
import type { CommandModule } from 'yargs'
import type { HeldDeletion } from '../daemon/held-deletions.ts'
import { configOption, readConfig } from './config-option.ts'
import { EXIT } from './exit-codes.ts'
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
    describe: 'Held deletions: look, let them go ahead, or keep the images for good',
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
  const { approve, discard, listHeld } = await import('../daemon/held-deletions.ts')
  const at = path?.startsWith('.') ? resolve(path) : path?.replace(/\/+$/, '')
  if (action === 'list') {
    const { readState } = await import('../daemon/status.ts')
    report(
      readState(config, synced => listHeld(config, synced, at)),
      action,
      json,
    )
    return EXIT.inSync
  }
  const { openState } = await import('../daemon/state.ts')
  const state = await openState(config, line => void process.stderr.write(`albumd: ${line}\n`))
  try {
    const held = listHeld(config, state.synced, at)
    report(held, action, json)
    if (action === 'approve') await approve(state.synced, held)
    else await discard(state.synced, held, Date.now())
  } finally {
    state.close()
  }
  return EXIT.inSync
}

const AFTERWARDS = {
  list: 'is held. "albumd deletions approve" lets it go, "discard" keeps it for good.',
  approve: 'goes at the next sync. This can not be undone.',
  discard: 'stays on the host for good.',
}

const WHY = {
  deleted: 'gone from the disk',
  superseded: 'an older version',
  ignored: 'hidden by an ignore rule',
}

function report(held: readonly HeldDeletion[], action: DeletionsArgs['action'], json: boolean): void {
  if (json) {
    const deletions = held.map(({ image, ...shown }) => ({ ...shown, image_id: image.remote_id }))
    process.stdout.write(`${JSON.stringify({ action, deletions })}\n`)
    return
  }
  for (const { path, reason, size, since, cdn_url } of held) {
    const why = WHY[reason]
    process.stdout.write(
      `${printable(path)} (${why}, ${sizeInWords(size)}, since ${since})  ${printable(cdn_url ?? 'delivery address not known')}\n`,
    )
  }
  process.stdout.write(
    held.length === 0 ? 'nothing is held\n' : `${count(held.length, 'image')}: each ${AFTERWARDS[action]}\n`,
  )
}
