import type { Config } from '../../config/schema.ts'
import type { PendingDeletion } from '../../daemon/commands/deletions.ts'
import { type ShownStep, stepInWords } from '../../daemon/report/step.ts'
import { systemClock } from '../../protocol/clock.ts'
import { folderAbove, fullPath } from '../../sync/tree-path.ts'
import { because, inWords, type ReasonCode, WHY_IN_ESCROW } from '../../words/reasons.ts'
import { count, localTime, printable, sizeInWords } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import { configCommand, flag, jsonOption, locationsToActOn, pathToActOn } from '../options.ts'
import { EXIT, sayStateProblem } from '../problem.ts'
import { printJson, printLine } from '../terminal/output.ts'
import { rowsInWords } from './why.ts'

const ACTIONS = ['list', 'approve', 'discard'] as const

export const deletionsCommand = configCommand(
  options =>
    options
      .positional('action', { choices: ACTIONS, demandOption: true })
      .positional('path', {
        type: 'string',
        describe: 'Only what waits at and below this path, in its grace too',
      })
      .options({ all: flag('list: a line a picture, instead of a line a folder'), ...jsonOption })
      .example('$0 deletions list', 'How many wait in which folder, and until when')
      .example('$0 deletions discard Holiday/a.jpg', 'Keep its image for good')
      .example('$0 deletions approve Holiday', 'Let what was below Holiday go')
      .epilogue('Without a path, approve and discard are for all that waits.'),
  async (config, { action, path: given, all, json }, onInterrupts) => {
    let deletions: PendingDeletion[]
    let told: Told = action
    const { listPending, stillPending } = await import('../../daemon/commands/deletions.ts')
    const { readState } = await import('../../daemon/state/state.ts')
    if (action === 'list') {
      await sayStateProblem(config)
      await locationsToActOn(config, given === undefined ? [] : [given])
      const path = await pathToActOn(config, given)
      deletions = readState(config, synced => listPending(config, synced, path, systemClock.wall()))
    } else {
      const isAll = given === undefined && action === 'approve' && !json
      if (isAll && !(await mayDeleteAll(config))) return EXIT.left
      const interrupts = onInterrupts()
      const asked = { action, path: await pathToActOn(config, given) }
      const { result, byDaemon } = await carryOut(config, 'deletions', asked, interrupts)
      deletions = result.decided
      if (action === 'approve' && byDaemon) told = 'approve_now'
      // While this process worked with the state, its own lock looked like a daemon's.
      else if (action === 'approve')
        deletions = readState(config, synced => stillPending(config, synced, deletions, systemClock.wall()))
    }
    const oneMirror = config.mirrors.length === 1
    if (json) printJson({ action, deletions })
    else if (told === 'list' && !all && deletions.length > 1) reportFolders(deletions, oneMirror)
    else report(deletions, told, given, oneMirror)
    return EXIT.inSync
  },
)

/** Whether a person at a terminal means all that waits, which nothing brings back. Without a terminal nobody is asked. */
async function mayDeleteAll(config: Config): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return true
  const { Asker } = await import('../terminal/asker.ts')
  const { listPending } = await import('../../daemon/commands/deletions.ts')
  const { readState } = await import('../../daemon/state/state.ts')
  const { length } = readState(config, synced => listPending(config, synced, undefined, systemClock.wall()))
  if (length === 0) return true
  const asker = new Asker(process.stdin, process.stdout)
  try {
    const words = `Delete all ${count(length, 'image')} (yes or no)?`
    const check = (word: string) => (/^(y|yes|n|no)$/.test(word) ? null : 'must be yes or no')
    return (await asker.ask({ option: 'yes', words, fallback: 'no', check })).startsWith('y')
  } finally {
    asker.close()
  }
}

/** What a person asked for. `approve_now`: the person approved, and a daemon runs, which deletes the images by itself. */
type Told = (typeof ACTIONS)[number] | 'approve_now'

const BEFORE = {
  approve: 'to be deleted; this can not be undone:',
  approve_now: 'to be deleted by the running albumd; this can not be undone:',
  discard: 'to be kept on the host for good:',
}

const AFTERWARDS = {
  approve: 'is approved, and goes at the next sync.',
  approve_now: 'is approved, and is deleted now.',
  discard: 'stays on the host for good. Delete it there to end its address.',
}

const DECIDE =
  '"albumd deletions approve PATH" lets them go, "discard PATH" keeps them for good, and "albumd restore FOLDER --at TIME" brings pictures back.'

function report(
  deletions: readonly PendingDeletion[],
  told: Told,
  path: string | undefined,
  oneMirror: boolean,
): void {
  const where = path === undefined ? '' : ` at or below ${printable(path)}`
  if (deletions.length === 0) {
    printLine(told === 'list' ? `nothing waits to be deleted${where}, by the last scan` : 'nothing waits')
    return
  }
  if (told !== 'list') printLine(BEFORE[told])
  // Images that wait for the same thing stand together, above what they wait for.
  for (const [, group] of Map.groupBy(deletions, deletion =>
    told === 'discard'
      ? ''
      : ofSeveral(deletion)
          .map(step => stepInWords(step))
          .join('\n'),
  )) {
    for (const line of linesOf(group, told, oneMirror)) printLine(line)
    const all = count(group.length, 'image')
    const next = group.length === 1 ? group[0]!.next : ofSeveral(group[0]!)
    if (told === 'discard' || (told !== 'list' && next.every(({ code }) => AT_ONCE.has(code))))
      printLine(`${all}: ${group.length === 1 ? 'it' : 'each'} ${AFTERWARDS[told]}`)
    else printLine([`${all}:`, ...rowsInWords(next.map(step => ['next', stepInWords(step)]))].join('\n'))
  }
  if (told === 'list') printLine(DECIDE)
}

/** A line an image in a list, and for one alone. A line a folder of several about which a person has decided. */
function linesOf(group: readonly PendingDeletion[], told: Told, oneMirror: boolean): string[] {
  if (told === 'list' || group.length === 1) return group.map(deletion => inWordsOf(deletion, oneMirror))
  const folders = Map.groupBy(group, deletion => folderOf(deletion, oneMirror))
  return Array.from(folders, ([folder, alike]) => `${folder} (${nounsOf(alike)})`)
}

/** A line for each folder: how many images wait there for the same thing, and until when the last of them does. */
function reportFolders(deletions: readonly PendingDeletion[], oneMirror: boolean): void {
  const others = new Set<string>()
  const alike = Map.groupBy(deletions, deletion => {
    const { state, next } = deletion
    return [folderOf(deletion, oneMirror), state, nounsOf([deletion]), next[0]!.code].join('\n')
  })
  for (const group of alike.values()) {
    const [first, ...more] = group.length === 1 ? group[0]!.next : ofSeveral(group[0]!)
    const ends = group.flatMap(({ goes_at }) => goes_at ?? []).sort()
    const what = stepInWords({ ...first!, at: ends.at(-1) ?? null })
    printLine(`${folderOf(group[0]!, oneMirror)} (${nounsOf(group)}): ${what}`)
    for (const step of more) others.add(stepInWords(step))
  }
  for (const line of rowsInWords([...others].map(step => ['next', step]))) printLine(line)
  printLine(DECIDE)
}

function folderOf({ mirror, path }: PendingDeletion, oneMirror: boolean): string {
  const folder = folderAbove(path)
  return printable(oneMirror && folder !== '' ? folder : fullPath(mirror, folder))
}

/** How many images, and of what: the old image of a picture that moved goes without a loss. */
function nounsOf(deletions: readonly PendingDeletion[]): string {
  const { length: n } = deletions
  if (deletions.every(({ reason }) => reason === 'superseded')) return count(n, 'replaced version')
  const areMoved = deletions.every(({ moved_to }) => moved_to !== null)
  return areMoved ? `${count(n, 'old image')} of what moved` : count(n, 'image')
}

/** The steps of one image, worded for several: without its name, and without the place where its picture lies now. */
function ofSeveral({ next, moved_to }: PendingDeletion): ShownStep[] {
  return next.map(step => {
    const each = step.what.replace(/^the image( of the replaced version)? /, 'each ')
    return { ...step, as_of: null, what: moved_to === null ? each : each.replace(moved_to, 'its new place') }
  })
}

const AT_ONCE: ReadonlySet<ReasonCode> = new Set(['goes_next', 'run_sync'])

function inWordsOf(
  { mirror, path, reason, moved_to, approved, size, since, cdn_url }: PendingDeletion,
  oneMirror: boolean,
): string {
  const why = moved_to === null ? WHY_IN_ESCROW[reason] : because('picture_moved', { path: moved_to })
  const facts = `${inWords(why)}${approved ? ', approved' : ''}, ${sizeInWords(size)}, since ${localTime(since)}`
  const shown = oneMirror ? path : fullPath(mirror, path)
  return `${printable(shown)} (${printable(facts)})  ${printable(cdn_url ?? 'delivery address not known')}`
}
