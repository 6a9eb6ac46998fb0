import { resolve } from 'node:path'
import { readAuthorities } from '../../config/host-access.ts'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import type { Note, RecordGiven, RestoreEvent, RestoreReport } from '../../daemon/restore/restore.ts'
import { systemClock } from '../../protocol/clock.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { because, inWords } from '../../words/reasons.ts'
import {
  count,
  inDigits,
  isoTime,
  localTime,
  localTimeFrom,
  printable,
  shellWord,
  sizeInWords,
} from '../../words/text.ts'
import { configCommand, flag, jsonOption, quietOption, valued } from '../options.ts'
import { EXIT, Problem, sayStateProblem } from '../problem.ts'
import { printJson, printLine, sayAside } from '../terminal/output.ts'
import { noProgress, type Progress, progressOn } from '../terminal/progress.ts'

export const restoreCommand = configCommand(
  options =>
    options
      .positional('folder', {
        type: 'string',
        demandOption: true,
        describe:
          'An empty or a new folder, or one where a restore was begun; with --at also a mirror, or a folder in one',
      })
      .options({
        mirror: valued('Only the mirror of this folder; else each of several gets a folder of its name'),
        deleted: flag('Also pictures that were deleted here and whose image is still on the host'),
        at: valued(
          'The pictures as they were then: so long ago (2d, 90m), at the beginning of a day (2026-11-20), or at a time (18:00, "2026-11-20 18:00", ISO 8601)',
        ),
        'from-host': flag(
          'All that the host lists, in a folder for each album; needs the key, and no state; stop albumd run first',
        ),
        ...quietOption,
        ...jsonOption,
      })
      .example('$0 restore /mnt/new/photos', 'All pictures, with their times')
      .example(
        '$0 restore /tmp/back --mirror /srv/photos --deleted',
        'One mirror, with what waits to be deleted',
      )
      .example('$0 restore /srv/photos --at "2026-11-20 18:00"', 'In the mirror itself, after an accident')
      .example('$0 restore /mnt/new/all --from-host', 'When pictures and state are lost')
      .epilogue(
        'Nothing is overwritten, and nothing is changed on the host: in a mirror, pictures that came later stay, and a file with other bytes is moved to .albumd-replaced in FOLDER. If it is interrupted, the same command goes on. Without --from-host it needs the state, no key, and works beside a running albumd. "albumd status" says how far back --at reaches.',
      ),
  async (config, args, onInterrupts) => {
    const { folder, deleted, 'from-host': fromHost, at, json, quiet } = args
    const restore = await restoreFor(config, args)
    const progress = json || quiet ? noProgress : await progressOn(process.stdout)
    const problems: object[] = []
    const interrupts = onInterrupts(() => progress.say('stopping'))
    let isWaiting = false
    const emit = (emitted: RestoreEvent) => {
      isWaiting ||= 'code' in emitted && emitted.code === 'NOT_ON_HOST'
      if (json) {
        const { event: _, ...problem } = emitted
        if ('code' in problem) problems.push(problem)
      } else if (quiet && 'code' in emitted) sayAside(eventInWords(emitted, at)!)
      else tellRestore(progress, emitted, at)
    }
    try {
      const report = await restore(emit, interrupts)
      progress.end()
      const { missing, unread, older, stopped, interrupted } = report
      const isWhole =
        missing + unread + older + report.encoded === 0 &&
        report.not_recorded === null &&
        report.gap === null &&
        stopped === null &&
        !interrupted
      const exitCode = isWhole ? EXIT.inSync : EXIT.left
      if (json) printJson({ problems, exit_code: exitCode, folder: resolve(folder), ...report })
      else if (!quiet || !isWhole) {
        const lines = reportInWords(report, printable(folder), { deleted, fromHost, at, isWaiting })
        // With --quiet, the first line is left out: it only tells what was restored.
        if (quiet) for (const line of lines.slice(1)) sayAside(line)
        else for (const line of lines) printLine(line)
      }
      if (stopped !== null) sayAside(stopped)
      return exitCode
    } finally {
      progress.end()
    }
  },
)

interface Asked {
  folder: string
  mirror?: string | undefined
  deleted: boolean
  at?: string | undefined
  quiet: boolean
  'from-host': boolean
  json: boolean
}

type Restore = (emit: (emitted: RestoreEvent) => void, interruption: Interruption) => Promise<RestoreReport>

async function restoreFor(config: Config, asked: Asked): Promise<Restore> {
  const { folder, mirror, deleted, at: given, 'from-host': fromHost } = asked
  if (folder === '') throw new Problem('No folder is named. Name one')
  if (fromHost && (deleted || mirror !== undefined))
    throw new Problem('--from-host fetches all that the host lists. Leave out --mirror and --deleted')
  if (given !== undefined && (fromHost || deleted))
    throw new Problem('--at brings back what was there then. Leave out --from-host and --deleted')
  const mirrors = mirrorsFor(config, mirror)
  const ca = readAuthorities(config)
  if (fromHost) {
    const { readAccess } = await import('../read-config.ts')
    const access = readAccess(config)
    const { restoreFromHost } = await import('../../daemon/restore/from-host.ts')
    return (emit, interruption) => restoreFromHost(config, folder, access, emit, interruption, sayAside)
  }
  await sayStateProblem(config)
  if (given !== undefined) return restoreAt(config, asked, { given, mirrors, ca })
  const { restoreMirrors } = await import('../../daemon/restore/from-records.ts')
  const request = { folder, mirrors, deleted, ca }
  return (emit, interruption) =>
    restoreMirrors(
      config,
      { ...request, recordGiven: recordingIn(config, interruption.cut) },
      emit,
      interruption,
    )
}

function recordingIn(config: Config, cut: AbortSignal): RecordGiven {
  return async restored => {
    const { carryOut } = await import('../carry-out.ts')
    const pictures = restored.map(({ hash, ...picture }) => ({ ...picture, hash: hash.toString('hex') }))
    await carryOut(config, 'given', { pictures }, { stop: cut, cut })
  }
}

async function restoreAt(
  config: Config,
  { folder, mirror, quiet, json }: Asked,
  { given, mirrors, ca }: { given: string; mirrors: string[]; ca: string | null },
): Promise<Restore> {
  const { parseMoment } = await import('../moment.ts')
  const fromMoment = await import('../../daemon/restore/from-moment.ts')
  const { begunMoment } = await import('../../daemon/restore/target-folder.ts')
  const at = { given, moment: parseMoment('--at', given, systemClock.wall()) }
  const place = fromMoment.placeInMirror(config, folder)
  if (place && mirror !== undefined)
    throw new Problem(`${printable(folder)} lies in a mirror already. Leave out --mirror`)
  const request = { folder, mirrors: place ? [place.mirror] : mirrors, at }
  const begun = await begunMoment(config, { ...request, at: given })
  if (begun !== null && begun !== at.moment) {
    // In a mirror, another time begins anew, and nothing is deleted until that has ended. Elsewhere, a folder that holds pictures
    // is then refused.
    const anew = place ? `say --at ${isoTime(at.moment)}` : 'name another folder'
    const line = `goes on with the moment of ${localTime(begun)}, for which the restore was begun; ${anew} to begin anew`
    if (quiet || json) sayAside(line)
    else printLine(line)
  }
  return (emit, interruption) =>
    fromMoment.restoreMoment(
      config,
      { folder, mirrors, at, ca, recordGiven: recordingIn(config, interruption.cut) },
      emit,
      interruption,
    )
}

function mirrorsFor(config: Config, given: string | undefined): string[] {
  const folders = config.mirrors.map(({ folder }) => folder)
  if (given === undefined) return folders
  const real = realPathOf(resolve(given))
  if (folders.includes(real)) return [real]
  throw new Problem(printable(inWords(because('no_mirror', { path: given, mirrors: config.mirrors }))))
}

/** Shows an event of a restore. When there is a bar, lines are written only for problems and for other names. `at`: the option
 * that was given. */
function tellRestore(progress: Progress, emitted: RestoreEvent, at: string | undefined): void {
  const isElsewhere = emitted.event === 'picture_moved' || emitted.event === 'picture_renamed'
  if (emitted.event === 'restore_started') progress.start({ total: emitted.pictures })
  else if (!isElsewhere) progress.advance('size' in emitted && !emitted.there ? emitted.size : 0)
  const line = eventInWords(emitted, at)
  if (line !== null && ('code' in emitted || isElsewhere || !progress.hasBar)) progress.say(line)
}

/** The line for an event, with paths below the folder that is filled. Null for pictures that are there already, because such
 * pictures may be very many. */
function eventInWords(emitted: RestoreEvent, at: string | undefined): string | null {
  switch (emitted.event) {
    case 'restore_started':
      return `${count(emitted.pictures, 'picture')} ${at === undefined ? 'to restore' : 'recorded then'}${emitted.bytes === null ? '' : ` (${sizeInWords(emitted.bytes)})`}`
    case 'picture_restored': {
      const { there, to, size, note } = emitted
      if (there && note !== 'unproved') return null
      const noted = note === null ? '' : `; ${NOTES[note]}`
      return `${there ? 'there' : 'restored'} ${printable(to)} (${sizeInWords(size)}${noted})`
    }
    case 'picture_missing':
      return `${emitted.code === 'NOT_READ' ? 'unread' : 'missing'} ${printable(emitted.to)}: ${printable(emitted.message)} (${emitted.code})`
    case 'picture_renamed':
      return `renamed ${printable(emitted.path)} to ${printable(emitted.to)}, because the name is taken`
    case 'picture_moved':
      return `elsewhere ${printable(emitted.to)}: the same picture lies at ${printable(emitted.moved_to)}`
  }
}

const NOTES: Record<Note, string> = {
  older: 'an older version',
  proved: 'its bytes are proved',
  unproved: 'only size and dimensions are compared',
}

/** How complete the folder is. The last lines of the report count what is missing. `at`: the time of the restore. */
function asItWas({ missing, unread, untried }: RestoreReport, at: string): string {
  const asThen = `as it was at ${localTime(at)}`
  if (untried > 0) return `not yet ${asThen}: ${count(untried, 'picture')} not tried`
  const lacks = [...(missing > 0 ? ['missing'] : []), ...(unread > 0 ? ['unread'] : [])]
  return lacks.length > 0 ? `${asThen}, except for what is ${lacks.join(' or ')}` : asThen
}

function replacedFiles(pictures: number): string {
  return pictures === 1
    ? 'replaced a file with other bytes, which is'
    : 'replaced files with other bytes, which are'
}

/** What keeps the folder from being as it was, after a semicolon. Empty: no picture came later. */
function laterInWords({ later }: RestoreReport): string {
  return later === 0 ? '' : `; ${count(later, 'picture')} that came later ${later === 1 ? 'stays' : 'stay'}`
}

function thenInWords(report: RestoreReport, at: string): string[] {
  const { restorable_since: since } = report
  const lines = [`${report.gap ? 'perhaps not ' : ''}${asItWas(report, at)}${laterInWords(report)}`]
  if (since !== null && at < since)
    lines.push(`of times before ${localTimeFrom(since)} only what the host still has comes back`)
  if (report.gap) lines.push(inWords(because('records_gap', report.gap)))
  return lines
}

function unknownInWords({ state_is_older: isOlder, unrecorded }: RestoreReport): string[] {
  const fetch = '"albumd restore FOLDER --from-host" fetches all that the host lists'
  if (isOlder)
    return [`the state is an older copy or made anew, and what it does not know is not here. ${fetch}`]
  if (unrecorded === 0) return []
  const are = unrecorded === 1 ? 'is' : 'are'
  return [`${count(unrecorded, 'image')} on the host by the last audit ${are} in no record. ${fetch}`]
}

/** The report for a person. `asked`: the options that were given. `isWaiting`: whether a missing picture waits for its upload. It
 * may be a picture that was left out under its old name. */
function reportInWords(
  report: RestoreReport,
  folder: string,
  asked: { deleted: boolean; fromHost: boolean; at: string | undefined; isWaiting: boolean },
): string[] {
  const { restored, bytes, there, missing, hopeless, unread, untried, stopped, interrupted } = report
  const before = there > 0 ? `, ${inDigits(there)} there already` : ''
  const all = restored + there + missing + unread + untried
  const inAll = all > restored ? `, of ${inDigits(all)} in all` : ''
  const { replaced, at } = report
  const lines = [`${count(restored, 'picture')} restored (${sizeInWords(bytes)})${before}${inAll}`]
  const add = (n: number, words: string) => n > 0 && lines.push(`${count(n, 'picture')} ${words}`)
  if (asked.fromHost) {
    lines.push(`${count(report.proved, 'picture')} proved by their recorded hashes`)
    add(report.unproved, 'compared only with the size and the dimensions that the host lists')
  } else {
    add(report.proved, 'of them only linked until now: the bytes are proved')
    add(report.older, 'of them in an older version: what changed since is not on the host')
    add(report.moved, 'elsewhere: restored under the other name')
    if (!asked.deleted && asked.at === undefined)
      add(
        report.gone,
        `left out: deleted ${asked.isWaiting ? 'or perhaps renamed here,' : 'here'} and still on the host; --deleted restores them too`,
      )
  }
  add(report.stripped, 'of them without their metadata, as they come from the host')
  add(report.turned, 'of them may lie on their side, because their metadata turned them')
  add(report.packed, 'of them packed anew by the host')
  add(report.encoded, 'of them not the originals: the host encodes them anew')
  if (report.not_recorded !== null)
    lines.push(
      `what the host has altered could not be recorded, and would be sent again: ${report.not_recorded}`,
    )
  if (at !== null) lines.push(...thenInWords(report, at))
  add(replaced, `${replacedFiles(replaced)} in ${folder}/.albumd-replaced now`)
  lines.push(...unknownInWords(report))
  // The following lines say what is left to do, and which command does the rest.
  add(missing, 'missing: the lines that begin with "missing" say why')
  add(unread, 'unread: the lines that begin with "unread" say why')
  if (at === null) add(untried, 'not tried yet')
  if (interrupted) lines.push('ended early; the same command goes on where it was')
  else if (missing > hopeless && stopped === null && asked.at === undefined)
    lines.push('the same command tries what is missing once more')
  if (report.mirror_waits)
    lines.push(
      `no image of what is missing in ${folder} is deleted before the same command has brought back everything; to give it up, remove ${shellWord(`${folder}/.albumd-restore`)}: then what is not back counts as deleted`,
    )
  return lines
}
