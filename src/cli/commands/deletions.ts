import type { PendingDeletion } from '../../daemon/commands/deletions.ts'
import { because, inWords, WHY_IN_ESCROW } from '../../words/reasons.ts'
import { count, localTime, printable, sizeInWords, spanInWords } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import { configCommand, jsonOption, pathToActOn } from '../options.ts'
import { EXIT, sayStateProblem } from '../problem.ts'
import { printJson, printLine } from '../terminal/output.ts'
import { stepInWords } from './why.ts'

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

/** What happens to an image that is not held. */
const IN_GRACE = {
  at_a_time:
    'is deleted then, if albumd runs until then and not too many go at once. "albumd deletions approve PATH" deletes it now, "discard PATH" keeps it for good.',
  once_it_ran:
    'is deleted by "albumd run", or by "albumd sync" once albumd has run for so long, if not too many go at once. "albumd deletions approve PATH" has the next sync delete it, "discard PATH" keeps it for good.',
  next: 'is deleted by the next "albumd sync" or "albumd run". "albumd deletions discard PATH" keeps it for good.',
  by_sync:
    'is deleted at the end of the next "albumd sync"; "albumd run" gives it the grace first. "albumd deletions discard PATH" keeps it for good.',
  moved:
    'is deleted once the picture is on the host in its new place, by "albumd sync" or "albumd run". "albumd deletions discard PATH" keeps it for good.',
  approved:
    'is deleted by the next "albumd sync" or "albumd run", because it is approved. "albumd deletions discard PATH" keeps it for good.',
  will_be_held:
    'will be held before it goes, because these are more than hold_above and hold_min allow. "albumd restore FOLDER --at TIME" brings the picture back, at the latest until you approve.',
}

/** What happens to an image next, in words. */
function whatNext(
  { state, approved, will_be_held, goes_at, stopped_by, grace, moved_to }: PendingDeletion,
  told: Told,
): string {
  if (told !== 'list' || state === 'held') return AFTERWARDS[told]
  if (stopped_by.length > 0 && !will_be_held)
    return `waits to be deleted; ${stopped_by.map(stepInWords).join('; ')}. "albumd deletions discard PATH" keeps it for good.`
  if (approved) return goes_at === null ? IN_GRACE.approved : AFTERWARDS.approve_now
  if (will_be_held) return IN_GRACE.will_be_held
  if (goes_at !== null) return IN_GRACE.at_a_time
  if (grace === 'runs') return IN_GRACE.once_it_ran
  if (moved_to !== null) return IN_GRACE.moved
  return grace === 'none' ? IN_GRACE.by_sync : IN_GRACE.next
}

/** Prints the deletions, and what happens to them now. */
function report(deletions: readonly PendingDeletion[], told: Told, path: string | undefined): void {
  const where = path === undefined ? '' : ` at or below ${printable(path)}`
  if (deletions.length === 0)
    printLine(told === 'list' ? `nothing waits to be deleted${where}, by the last scan` : 'nothing is held')
  else if (BEFORE[told]) printLine(BEFORE[told])
  const groups = Map.groupBy(deletions, deletion => whatNext(deletion, told))
  for (const deletion of [...groups.values()].flat()) printLine(inWordsOf(deletion, told))
  for (const [what, those] of groups)
    printLine(`${count(those.length, 'image')}: ${those.length === 1 ? 'it' : 'each'} ${what}`)
}

function inWordsOf(
  {
    path,
    reason,
    moved_to,
    size,
    since,
    goes_at,
    grace_left_seconds: left,
    stopped_by,
    will_be_held,
    cdn_url,
  }: PendingDeletion,
  told: Told,
): string {
  const after = left === null ? '' : `, goes once albumd has run for ${spanInWords(left * 1000)} more`
  const goesThen = goes_at === null ? after : `, goes ${localTime(goes_at)}`
  // Once a person has decided, this time holds no more.
  const goes = will_be_held || stopped_by.length > 0 || told !== 'list' ? '' : goesThen
  const why = moved_to === null ? WHY_IN_ESCROW[reason] : because('picture_moved', { path: moved_to })
  const facts = `${inWords(why)}, ${sizeInWords(size)}, since ${localTime(since)}${goes}`
  return `${printable(path)} (${printable(facts)})  ${printable(cdn_url ?? 'delivery address not known')}`
}
