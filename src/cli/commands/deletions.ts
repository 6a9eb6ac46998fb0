import type { PendingDeletion } from '../../daemon/commands/deletions.ts'
import { inWords, WHY_IN_ESCROW } from '../../words/reasons.ts'
import { count, localTime, printable, sizeInWords } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import { configCommand, jsonOption, pathToActOn } from '../options.ts'
import { EXIT, sayStateProblem } from '../problem.ts'
import { printJson, printLine } from '../terminal/output.ts'

const ACTIONS = ['list', 'approve', 'discard'] as const

export const deletionsCommand = configCommand(
  options =>
    options
      .positional('action', { choices: ACTIONS, demandOption: true })
      .positional('path', {
        type: 'string',
        describe: 'Only what waits at and below this path, in its grace too',
      })
      .options(jsonOption)
      .example('$0 deletions list', 'What is held, and what is deleted when')
      .example('$0 deletions discard Holiday/a.jpg', 'Keep its image for good, held or not')
      .example('$0 deletions approve Holiday', 'Let what was below Holiday go now, held or not'),
  async (config, { action, path: given, json }, onInterrupts) => {
    let deletions: PendingDeletion[]
    let told: Told = action
    if (action === 'list') {
      await sayStateProblem(config)
      const path = await pathToActOn(config, given)
      const { listPending } = await import('../../daemon/commands/deletions.ts')
      const { readState } = await import('../../daemon/state/state.ts')
      deletions = readState(config, synced => listPending(config, synced, path, Date.now()))
    } else {
      const interrupts = onInterrupts()
      const asked = { action, path: await pathToActOn(config, given) }
      const { result, byDaemon } = await carryOut(config, 'deletions', asked, interrupts)
      deletions = result.decided
      if (action === 'approve' && byDaemon) told = 'approve_now'
    }
    if (json) printJson({ action, deletions })
    else report(deletions, told, given)
    return EXIT.inSync
  },
)

/** What a person asked for. `approve_now`: the person approved, and a daemon runs, which deletes the images by itself. */
type Told = (typeof ACTIONS)[number] | 'approve_now'

const BEFORE = {
  list: null,
  approve: 'to be deleted at the next sync; this can not be undone:',
  approve_now: 'to be deleted by the running albumd; this can not be undone:',
  discard: 'to be kept on the host for good:',
}

const AFTERWARDS = {
  list: 'is held. "albumd deletions approve" deletes it on the host, "discard" keeps it there, and "albumd restore" brings the picture back.',
  approve: 'is approved, and goes at the next sync.',
  approve_now: 'is approved, and is deleted now, unless albumd is paused or something is in doubt.',
  discard: 'stays on the host for good: albumd never deletes it. Delete it at the host to end its address.',
}

const IN_GRACE =
  'is deleted then, if albumd runs until then and not too many go at once. "albumd deletions approve PATH" deletes it now, "discard PATH" keeps it for good.'

const WILL_BE_HELD =
  'will be held before it goes, because these are more than hold_above and hold_min allow. "albumd restore FOLDER --at TIME" brings the picture back, at the latest until you approve.'

/** Prints the deletions, and what happens to them now. */
function report(deletions: readonly PendingDeletion[], told: Told, path: string | undefined): void {
  const where = path === undefined ? '' : ` at or below ${printable(path)}`
  const inGrace = ({ state }: PendingDeletion) => told === 'list' && state === 'grace'
  const decided = deletions.filter(deletion => !inGrace(deletion))
  const graced = deletions.filter(deletion => inGrace(deletion) && !deletion.will_be_held)
  const many = deletions.filter(deletion => inGrace(deletion) && deletion.will_be_held)
  if (deletions.length === 0)
    printLine(told === 'list' ? `nothing waits to be deleted${where}` : 'nothing is held')
  if (decided.length > 0 && BEFORE[told]) printLine(BEFORE[told])
  for (const deletion of [...decided, ...graced, ...many]) printLine(inWordsOf(deletion, told))
  for (const [those, what] of [
    [decided, AFTERWARDS[told]],
    [graced, IN_GRACE],
    [many, WILL_BE_HELD],
  ] as const)
    if (those.length > 0)
      printLine(`${count(those.length, 'image')}: ${those.length === 1 ? 'it' : 'each'} ${what}`)
}

function inWordsOf(
  { path, reason, size, since, goes_at, will_be_held, cdn_url }: PendingDeletion,
  told: Told,
): string {
  // Once a person has decided, this time holds no more.
  const goes = goes_at === null || will_be_held || told !== 'list' ? '' : `, goes ${localTime(goes_at)}`
  const why = `${inWords(WHY_IN_ESCROW[reason])}, ${sizeInWords(size)}, since ${localTime(since)}${goes}`
  return `${printable(path)} (${why})  ${printable(cdn_url ?? 'delivery address not known')}`
}
