import { existsSync } from 'node:fs'
import type { Config } from '../../config/schema.ts'
import type { VerifiedInWords } from '../../daemon/commands/sync.ts'
import type { Operation, Planned, PlannedInWords } from '../../daemon/engine/rehearsal.ts'
import type { MirrorStatus } from '../../daemon/report/mirror-status.ts'
import type { LeftOut } from '../../local/look.ts'
import type { MirrorLocation } from '../../sync/scan/index.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { because, codeOf, factOf, inWords, type Reason } from '../../words/reasons.ts'
import { count, inDigits, localTime, printable, sizeInWords } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import { onePass } from '../one-pass.ts'
import {
  configCommand,
  flag,
  jsonOption,
  locationsToSend,
  looksToSend,
  pathToActOn,
  quietOption,
  valued,
  wholeMirrors,
} from '../options.ts'
import { EXIT, Problem, sayStateProblem } from '../problem.ts'
import { fitted } from '../terminal/fitted.ts'
import type { OnInterrupts } from '../terminal/interrupts.ts'
import { printJson, printLine } from '../terminal/output.ts'

export const syncCommand = configCommand(
  options =>
    options
      .positional('paths', {
        type: 'string',
        array: true,
        default: [] as string[],
        describe: 'Only what is at and below these paths',
      })
      .options({
        'dry-run': flag('Print the plan with reasons; change nothing anywhere, and do not ask the host'),
        'prune-ignored': flag('Delete the images of pictures that an ignore rule hides'),
        ...quietOption,
        ...jsonOption,
      })
      .example('$0 sync -c albumd.yaml', 'Mirror now')
      .example('$0 sync ~/Pictures/Holiday', 'Mirror one folder alone')
      .example('$0 sync -c albumd.yaml --dry-run', 'See what it would do')
      .epilogue(
        'At its end it deletes the images of the few pictures that are gone. Many deletions wait for "albumd deletions approve" (at a terminal it asks), or for the first sync that begins deletions.grace_many later; too many for approval alone. While albumd run runs, it makes the pass, and deletions have their grace. With paths, summary and exit code are about these alone.',
      ),
  async (config, { paths, 'dry-run': dryRun, 'prune-ignored': pruneIgnored, json, quiet }, onInterrupts) => {
    if (dryRun && paths.length > 0)
      throw new Problem('--dry-run looks at everything. Leave out the paths, or --dry-run')
    if (dryRun) return preview(config, pruneIgnored, json, onInterrupts)
    const places = await locationsToSend(config, paths)
    const named = places.map(({ mirror, path }) => fullPath(mirror.folder, path))
    const request = named.length > 0 ? { pruneIgnored, paths: named } : { pruneIgnored }
    const { stateFiles } = await import('../../daemon/state/claim.ts')
    const isFirst = !existsSync(stateFiles(config.state_dir).database)
    const looks = await looksToSend(places, pruneIgnored)
    const notReady = looks.flatMap(({ path, found }) =>
      found.kind === 'left_out' && found.why === 'empty'
        ? [{ path, reason: inWords(because('empty_yet')) }]
        : [],
    )
    const shown = { json, quiet, notReady }
    let pass = await onePass(config, 'sync', request, shown, onInterrupts)
    const mayAsk = !json && !quiet && named.length === 0
    if (mayAsk && (await decideMany(config, pass.result.mirrors, onInterrupts)))
      pass = await onePass(config, 'sync', request, shown, onInterrupts)
    const { exitCode, result } = pass
    if (isFirst && !json && !quiet) {
      if (named.length > 0) await sayLeftOut(places, null)
      else
        await sayLeftOut(
          wholeMirrors(config),
          result.mirrors.map(({ left_out }) => left_out),
        )
    }
    return exitCode
  },
)

async function decideMany(
  config: Config,
  mirrors: readonly MirrorStatus[],
  onInterrupts: OnInterrupts,
): Promise<boolean> {
  // Where other deletions are held, a person looks at all of them first.
  const asked = mirrors.flatMap(({ folder, many, held_deletions }) =>
    many && held_deletions === 0 ? [{ folder, ...many }] : [],
  )
  if (asked.length === 0 || !process.stdin.isTTY || !process.stdout.isTTY) return false
  const { Asker } = await import('../terminal/asker.ts')
  const { imagesToDecide, setOfImages } = await import('../../daemon/commands/deletions.ts')
  const { readState } = await import('../../daemon/state/state.ts')
  const asker = new Asker(process.stdin, process.stdout)
  let isApproved = false
  try {
    for (const { folder: path, until, running_ms: ms, folders } of asked) {
      const images = readState(config, synced => imagesToDecide(config, synced, path))
      const deletions = images.length
      const ends = until === null ? null : Date.parse(until)
      asker.tell(factOf(because('many_deletions', { folder: path, deletions, folders, until: ends, ms })))
      const word = await asker.ask({
        option: 'deletions',
        words: `Delete ${deletions === 1 ? 'it' : 'them'} now (yes), keep for good (keep), or let wait (no)?`,
        fallback: 'no',
        check: word => (decisionOf(word) ? null : 'must be yes, keep or no'),
      })
      const answer = decisionOf(word)!
      if (answer === 'no') continue
      const action = answer === 'yes' ? 'approve' : 'discard'
      await carryOut(config, 'deletions', { action, path, seen: setOfImages(images) }, onInterrupts())
      isApproved ||= answer === 'yes'
    }
  } finally {
    asker.close()
  }
  return isApproved
}

/** A decision, or its first letter. */
function decisionOf(word: string): 'yes' | 'keep' | 'no' | undefined {
  return (['yes', 'keep', 'no'] as const).find(decision => word === decision || word === decision[0])
}

async function sayLeftOut(
  places: readonly MirrorLocation[],
  scanned: readonly LeftOut[] | null,
): Promise<void> {
  const { leftOutInWords } = await import('../terminal/left-out.ts')
  for (const line of leftOutInWords(places, scanned)) printLine(line)
}

async function preview(
  config: Config,
  pruneIgnored: boolean,
  json: boolean,
  onInterrupts: OnInterrupts,
): Promise<number> {
  const { readAccess, refuseMissingFolders } = await import('../read-config.ts')
  refuseMissingFolders(config)
  const { dryRun } = await import('../../daemon/engine/dry-run.ts')
  const { stateFiles } = await import('../../daemon/state/claim.ts')
  const { refuseOtherConfig } = await import('../../daemon/commands/command.ts')
  const { readState } = await import('../../daemon/state/state.ts')
  const { stateIsLocked } = await import('../../synced/lock.ts')
  // `sync` is refused where the daemon has another config, and without a daemon where the key can't be read.
  if (stateIsLocked(stateFiles(config.state_dir).lock))
    readState(config, ({ meta }) => refuseOtherConfig(config, meta.get('config'), meta.get('pid')))
  else readAccess(config)
  const interruption = onInterrupts()
  await sayStateProblem(config)
  const plan: PlannedInWords[] = []
  const notes = new Set<string>()
  const totals = new Map<Operation, { operations: number; bytes: number }>()
  const hasOneMirror = config.mirrors.length === 1
  let lines = ''
  const print = () => {
    if (lines !== '') process.stdout.write(fitted(lines, process.stdout.columns))
    lines = ''
  }
  const say = ({ why, ...planned }: Planned) => {
    const sum = totals.get(planned.operation) ?? { operations: 0, bytes: 0 }
    totals.set(planned.operation, {
      operations: sum.operations + 1,
      bytes: sum.bytes + (planned.size ?? 0),
    })
    const said = { ...planned, code: codeOf(why), reason: inWords(why) }
    if (json) plan.push(said)
    else {
      // Lines of the same turn are written together.
      if (lines === '') setImmediate(print)
      lines += `${operationInWords(said, hasOneMirror)}\n`
    }
  }
  const note = (why: Reason) => void notes.add(inWords(why))
  const leftOut = await dryRun(config, { pruneIgnored, interruption, say, note }).finally(print)
  const sums = [...totals].map(([operation, sum]) => ({ operation, ...sum }))
  if (json) printJson({ dry_run: true, plan, totals: sums, notes: [...notes] })
  else {
    for (const line of notes) printLine(line)
    await sayLeftOut(wholeMirrors(config), leftOut)
    printLine(`${totalsInWords(sums)}; nothing was changed, and the host was not asked`)
  }
  return EXIT.inSync
}

function totalsInWords(
  totals: readonly { operation: Operation; operations: number; bytes: number }[],
): string {
  if (totals.length === 0) return 'nothing to do'
  const done = totals.filter(({ operation }) => operation !== 'none')
  const each = done.map(({ operation, operations, bytes }) => {
    const size = bytes > 0 ? `, ${sizeInWords(bytes)}` : ''
    return `${verbOf(operation)} ${inDigits(operations)}${size}`
  })
  const sum = done.reduce((all, { operations }) => all + operations, 0)
  const guarded = totals.find(({ operation }) => operation === 'none')
  return [
    count(sum, 'operation') + (each.length > 0 ? ` (${each.join('; ')})` : ''),
    ...(guarded ? [`${count(guarded.operations, 'mirror')} guarded`] : []),
  ].join(', ')
}

function operationInWords(planned: PlannedInWords, hasOneMirror: boolean): string {
  const { operation, mirror, path, reason, size, cdn_url, until } = planned
  // The line of a guarded mirror does not name its folder, because the reason names it.
  if (operation === 'none') return `guarded: ${printable(reason)}`
  const what = mirror === null ? `"${path}"` : hasOneMirror ? path : fullPath(mirror, path)
  const later = until ? `, until ${localTime(until)} at the earliest` : ''
  const bytes = size === undefined ? '' : `, ${sizeInWords(size)}`
  const ends = cdn_url ? `  ${printable(cdn_url)}` : ''
  return `${verbOf(operation)} ${printable(what)} (${printable(reason)}${bytes}${later})${ends}`
}

function verbOf(operation: Operation): string {
  return operation.replace('_', ' ')
}

export const retryCommand = configCommand(
  options =>
    options
      .positional('path', { type: 'string', describe: 'Only what failed at and below this path' })
      .options({
        resend: valued('Send a picture again that may have arrived; it may then be on the host twice'),
        strip: flag(
          'Send anew the images that have metadata which uploads.strip takes out; their old images are deleted as those of edited pictures are',
        ),
        ...quietOption,
        ...jsonOption,
      })
      .example('$0 retry', 'Try everything again that failed')
      .example('$0 retry --resend Holiday/a.jpg', 'Send it again, though it may have arrived')
      .epilogue('Of deletions it tries those that the host has refused.'),
  async (config, { path, resend, strip, json, quiet }, onInterrupts) => {
    const request = {
      path: await pathToActOn(config, path),
      resend: await pathToActOn(config, resend),
      strip,
    }
    return (await onePass(config, 'retry', request, { json, quiet }, onInterrupts)).exitCode
  },
)

export const adoptCommand = configCommand(
  options =>
    options
      .options({
        verify: flag('Fetch what was linked by name and size, and compare its bytes'),
        ...quietOption,
        ...jsonOption,
      })
      .example('$0 adopt', 'Link local pictures to images that are on the host already')
      .example('$0 adopt --verify', 'The same, and prove by their bytes that they are the same'),
  async (config, { verify, json, quiet }, onInterrupts) => {
    const { exitCode, result } = await onePass(config, 'adopt', { verify }, { json, quiet }, onInterrupts)
    if (quiet || json) return exitCode
    if (result.verified) report(result.verified, result.addressesKnown)
    if (result.left.some(({ pending_uploads }) => pending_uploads > 0))
      printLine('"albumd sync" uploads the pictures that are left')
    return exitCode
  },
)

/** The advice while albumd does not know addresses. It learns how the host builds them from the answer to an upload. */
const AFTER_AN_UPLOAD = '; after the next picture was uploaded, run "albumd adopt --verify" again'

function report({ equal, other, unknown, why }: VerifiedInWords, addressesKnown: boolean): void {
  const remedy = addressesKnown ? '' : AFTER_AN_UPLOAD
  printLine(`${count(equal, 'linked image')} proved to be the same`)
  if (other > 0)
    printLine(
      `${count(other, 'linked image')} turned out to be another picture's. The next sync uploads the pictures`,
    )
  if (unknown > 0) printLine(`${count(unknown, 'linked image')} could not be compared: ${why}${remedy}`)
}
