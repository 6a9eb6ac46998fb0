import type { HeldDeletion } from '../../daemon/commands/deletions.ts'
import { localTime } from '../../words/local-time.ts'
import { inWords } from '../../words/reasons.ts'
import { WHY_IN_ESCROW } from '../../words/why-in-escrow.ts'
import { carryOutBySomebody, silently } from '../carry-out.ts'
import { EXIT } from '../exit-codes.ts'
import { command, configOption, jsonOption, pathToActOn, readConfig } from '../options.ts'
import { sayStateProblem } from '../words/problem.ts'
import { count, printable, sizeInWords } from '../words/wording.ts'

const ACTIONS = ['list', 'approve', 'discard'] as const

export const deletionsCommand = command(
  options =>
    options
      .positional('action', { choices: ACTIONS, demandOption: true })
      .positional('path', { type: 'string', describe: 'Only what is held at and below this path' })
      .options({ ...configOption, ...jsonOption })
      .example('$0 deletions list', 'What would be deleted, and why it is held')
      .example('$0 deletions approve Holiday', 'Let what was below Holiday go'),
  async ({ action, path, config: flag, json }, onInterrupts) => {
    const config = await readConfig(flag)
    if (action === 'list') {
      await sayStateProblem(config)
      const at = await pathToActOn(config, path)
      const { listHeld } = await import('../../daemon/commands/deletions.ts')
      const { readState } = await import('../../daemon/state/state.ts')
      tell(
        readState(config, synced => listHeld(config, synced, at)),
        action,
        path,
        json,
      )
      return EXIT.inSync
    }
    const interrupts = onInterrupts()
    const asked = { action, path: await pathToActOn(config, path) }
    const { done, byDaemon } = await carryOutBySomebody(config, 'deletions', asked, silently, interrupts)
    tell(done.held, action === 'approve' && byDaemon ? 'approve_now' : action, path, json)
    return EXIT.inSync
  },
)

/** What a person asked for. `approve_now`: the running daemon goes on with it by itself. */
type Told = (typeof ACTIONS)[number] | 'approve_now'

const BEFORE = {
  list: null,
  approve: 'to be deleted at the next sync; this can not be undone:',
  approve_now: 'to be deleted by the running albumd; this can not be undone:',
  discard: 'to be kept on the host for good:',
}

const AFTERWARDS = {
  list: 'is held. "albumd deletions approve" lets it go, "discard" keeps it for good.',
  approve: 'is approved, and goes at the next sync.',
  approve_now:
    'is approved, and is deleted once its grace has ended, unless albumd is paused or something is in doubt.',
  discard: 'stays on the host for good.',
}

/** Prints the deletions, and what happens to them now. */
function tell(held: readonly HeldDeletion[], told: Told, path: string | undefined, json: boolean): void {
  if (json)
    return void process.stdout.write(
      `${JSON.stringify({ action: told === 'approve_now' ? 'approve' : told, deletions: held })}\n`,
    )
  const where = path === undefined ? '' : ` at or below ${printable(path)}`
  if (held.length === 0) return void process.stdout.write(`nothing is held${where}\n`)
  if (BEFORE[told]) process.stdout.write(`${BEFORE[told]}\n`)
  for (const { path, reason, size, since, cdn_url } of held) {
    const why = inWords(WHY_IN_ESCROW[reason])
    process.stdout.write(
      `${printable(path)} (${why}, ${sizeInWords(size)}, since ${localTime(since)})  ${printable(cdn_url ?? 'delivery address not known')}\n`,
    )
  }
  const each = held.length === 1 ? 'it' : 'each'
  process.stdout.write(`${count(held.length, 'image')}: ${each} ${AFTERWARDS[told]}\n`)
}
