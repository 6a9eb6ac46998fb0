import { keyRemedy } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../protocol/clock.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { MirrorLocation } from '../../sync/scan/index.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FailureRow } from '../../synced/tables/failures.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import { because, commandOf, inWords } from '../../words/reasons.ts'
import { capital, isoTime, localTime, printable } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import { configCommand, jsonOption, locationsToSend, looksToSend, quietOption } from '../options.ts'
import { EXIT, Problem } from '../problem.ts'
import { printJson, printLine, sayAside } from '../terminal/output.ts'

export const putCommand = configCommand(
  options =>
    options
      .positional('files', {
        type: 'string',
        array: true,
        demandOption: true,
        describe: 'Pictures in the folder of a mirror',
      })
      .options({ ...quietOption, ...jsonOption })
      .example('$0 put ~/Pictures/Holiday/a.jpg', 'Its address on standard output, once it is on the host')
      .epilogue(
        'It sends each picture at once, and prints one address a line, in the order of the arguments. A picture that could not be sent has no line, so with several ' +
          'files a script reads --json, which names each path. While run runs, run sends them, before what waits already. Without run, put runs notify.on_upload after it has printed the addresses, and waits for its end. Nothing else is sent, and nothing is deleted: the image of a picture that put finds gone or replaced goes with the next sync, or after the grace of run. The command does not wait for a ' +
          'picture that can not be sent now, such as one that is gone, empty or still being written: the picture is named on standard error ' +
          'with the reason, and the command ends with 3, or with 5 where the host refused the key. A file outside of the mirrors, or one that is left out, is refused before anything is sent.',
      ),
  async (config, { files, quiet, json }, onInterrupts) => {
    const places = await locationsToSend(config, files, true)
    const waits = await notReady(places)
    const interrupts = onInterrupts(() => sayAside('stopping'))
    const paths = places.map(pathOfPlace)
    const object = json ? objectPrinter(paths) : null
    const known = object?.known ?? addressPrinter(paths)
    const before = await results(config, places, null)
    for (const { path, cdn_url } of before) if (cdn_url !== null) known(path, cdn_url)
    const isThere = before.every(({ cdn_url }) => cdn_url !== null)
    const outcome = isThere
      ? null
      : await send(config, paths, waits, interrupts, { say: quiet ? () => {} : sayAside, known })
    if (object?.isPrinted()) return EXIT.inSync
    const sent = outcome === null ? before : await results(config, places, outcome)
    if (json) printJson({ pictures: sent })
    else
      for (const { path, cdn_url, reason } of sent) {
        known(path, cdn_url)
        if (reason !== null) sayAside(`${path}: ${reason}`)
      }
    if (sent.every(({ cdn_url }) => cdn_url !== null)) return EXIT.inSync
    return outcome?.refused ? EXIT.refused : EXIT.left
  },
)

/** Answers a function that prints addresses in the order of the arguments, each once the pictures before it have ended. A null
 * address: the picture has none. */
function addressPrinter(paths: readonly string[]): (path: string, address: string | null) => void {
  const known = new Map<string, string | null>()
  const printed = new Set<number>()
  return (path, address) => {
    known.set(path, address)
    for (const [n, at] of paths.entries()) {
      if (printed.has(n)) continue
      const next = known.get(at)
      if (next === undefined) return
      if (next === null) continue
      printLine(next)
      printed.add(n)
    }
  }
}

/** Prints one object for all pictures once each has its address, because a program need not wait for `notify.on_upload`.
 * `isPrinted`: whether it has. */
function objectPrinter(paths: readonly string[]) {
  const addresses = new Map<string, string>()
  const isPrinted = () => paths.every(path => addresses.has(path))
  const known = (path: string, address: string | null) => {
    if (address === null || isPrinted()) return
    addresses.set(path, address)
    const sent = (path: string): Sent => ({ path, cdn_url: addresses.get(path)!, code: null, reason: null })
    if (isPrinted()) printJson({ pictures: paths.map(sent) })
  }
  return { known, isPrinted }
}

function pathOfPlace({ mirror, path }: MirrorLocation): string {
  return `${mirror.folder}/${path}`
}

/** Why pictures can't be sent at this moment, by their paths: they are gone, or empty, as tools that take screenshots make them
 * first. Throws Problem when a path is no picture that a scan would find. */
async function notReady(places: readonly MirrorLocation[]): Promise<Map<string, Why>> {
  const waits = new Map<string, Why>()
  for (const { path, found } of await looksToSend(places)) {
    const at = printable(path)
    if (found.kind === 'absent') waits.set(path, GONE)
    if (found.kind === 'folder')
      throw new Problem(`${at} is a folder. "albumd sync ${at}" sends what is in it`)
    if (found.kind === 'left_out') waits.set(path, isNotReady(inWords(because('empty_yet'))))
    if (found.kind === 'unknown') throw new Problem(printable(inWords(found.why)))
  }
  return waits
}

function isNotReady(reason: string): Why {
  return { code: 'NOT_READY', reason, again: null }
}

const GONE: Why = { code: 'GONE', reason: inWords(because('gone')) }

/** A person ended the command before the picture was on the host. */
const INTERRUPTED: Why = { code: 'INTERRUPTED', reason: 'interrupted', again: null }

/** The events after which nothing more happens with a picture in this pass. */
const ENDS: ReadonlySet<SpokenEvent['event']> = new Set([
  'picture_uploaded',
  'picture_unchanged',
  'picture_linked',
  'picture_failed',
  'picture_uncertain',
])

/** Why a picture is not on the host. `again`: when it can be sent, at the earliest, because what keeps it away ends by itself:
 * ISO 8601, or null where nobody can tell. Without this field, the reason says what must be done first. `sooner`: how a
 * person has it sent before this time. */
interface Why {
  code: string
  reason: string
  again?: string | null
  sooner?: string
}

interface Outcome {
  /** Why pictures wait, by their paths. */
  waits: ReadonlyMap<string, Why>
  /** A daemon has sent the pictures, and sends by itself what can be sent later. */
  byDaemon: boolean
  /** The host refused the key or the plan. */
  refused: boolean
}

/** Has the pictures sent, and nothing else. Returns when the last of them is done, although a daemon may go on with other
 * pictures. `waits`: what is known before; why pictures wait is added. */
async function send(
  config: Config,
  paths: string[],
  waits: Map<string, Why>,
  { stop, cut }: { stop: AbortSignal; cut: AbortSignal },
  { say, known }: { say(line: string): void; known(path: string, address: string | null): void },
): Promise<Outcome> {
  const { isListening } = await import('../../daemon/state/socket-path.ts')
  const { stateFiles } = await import('../../daemon/state/claim.ts')
  const unsent = async () => {
    const byDaemon = await isListening(stateFiles(config.state_dir).control)
    return { waits, byDaemon, refused: false }
  }
  const left = new Set(paths.filter(path => !waits.has(path)))
  if (left.size === 0) return unsent()
  const { PLAN_REMEDY, stoppedInWords } = await import('../one-pass.ts')
  const done = new AbortController()
  const emit = (emitted: SpokenEvent) => {
    if (!('path' in emitted)) return
    const path = `${emitted.mirror}/${emitted.path}`
    if (emitted.event === 'picture_waits') waits.set(path, isNotReady(emitted.message))
    // The running albumd may have begun another try by the time that the records are read.
    if (emitted.event === 'picture_failed') waits.set(path, { code: emitted.code, reason: emitted.message })
    if (!ENDS.has(emitted.event)) return
    left.delete(path)
    if (emitted.event !== 'picture_uploaded' && emitted.event !== 'picture_unchanged') known(path, null)
    else if ('cdn_url' in emitted && emitted.cdn_url !== null) known(path, emitted.cdn_url)
    if (left.size === 0) done.abort()
  }
  const leave = AbortSignal.any([stop, done.signal])
  try {
    const request = { paths: [...left] }
    const { result, byDaemon } = await carryOut(config, 'put', request, { stop, cut }, { emit, say }, leave)
    const { paused } = result
    const [stopped] = result.stopped
    const { pauseInWords } = await import('../../daemon/state/pause.ts')
    const { needsPerson } = await import('../../remote/failures.ts')
    const key = keyRemedy(config, byDaemon ? null : process.env)
    const ofStop = (failure: HostFailure): Why => ({
      code: failure.code,
      reason: stoppedInWords(failure, { key, plan: PLAN_REMEDY }),
      ...(failure.remedy === 'quota'
        ? { again: result.uploads_go_on, sooner: inWords(because('quota_raised')) }
        : !needsPerson(failure.code) && { again: null }),
    })
    const ofAll = stop.aborted ? INTERRUPTED : stopped && ofStop(stopped)
    const all = paused ? { code: 'PAUSED', reason: pauseInWords(paused) } : ofAll
    if (all) for (const path of left) waits.set(path, all)
    return { waits, byDaemon, refused: !stop.aborted && result.verdict === 'refused' }
  } catch (error) {
    if (!leave.aborted || (error as { code?: string }).code !== 'LEFT') throw error
    if (stop.aborted) for (const path of left) waits.set(path, INTERRUPTED)
    return unsent()
  } finally {
    done.abort()
  }
}

/** The reason, and who sends the picture when. A time in the past is not told. `path`: whole. */
function reasonOf({ code, reason, again, sooner }: Why, path: string, byDaemon: boolean): string {
  if (again === undefined) return reason
  if (code === 'INTERRUPTED' && byDaemon) return `${reason}; the running albumd goes on with it`
  const at = again === null || Date.parse(again) <= systemClock.wall() ? null : localTime(again)
  if (code === 'UNCERTAIN') {
    const found = byDaemon
      ? `the running albumd looks for it on the host${at === null ? '' : `, and knows by ${at}`}`
      : `put it again${at === null ? '' : ` after ${at}`}: albumd looks for it on the host first, and sends it only if it is not there`
    const resend = because('resend', { path })
    return `${reason}; ${found}. ${capital(inWords(resend))}: ${commandOf(resend)}`
  }
  if (code === 'UNREADABLE' && !byDaemon) return `${reason}; put it again once it can be read`
  const after = `${at === null ? '' : ` after ${at}`}${sooner === undefined ? '' : ` (${sooner})`}`
  return byDaemon
    ? `${reason}; the running albumd tries again${after || ' by itself'}`
    : `${reason}; put it again${after}, or start "albumd run"`
}

interface Sent {
  path: string
  /** Null: the picture as it is now is not on the host. */
  cdn_url: string | null
  /** Why it is not there, for a program. NOT_READY: the file is empty or still being written. INTERRUPTED: a person ended the
   * command. PAUSED: albumd is paused. GUARDED: the mirror's folder is in doubt. GONE, MOVED, LEFT_OUT: the file is not in
   * its place any more, or not mirrored any more. WAITS: for something else. Every other code is a failure's or the host's.
   * Null: it is there. */
  code: string | null
  /** Why it is not there, for a person. Null: it is there. */
  reason: string | null
}

/** What the records say of the pictures, as they are on the disk at this moment. A picture that was read just after it was
 * written is recorded with the ctime 0, because it may have changed since; before the pass it is sent or compared. `outcome`:
 * of the pass; null before the pass. */
async function results(
  config: Config,
  places: readonly MirrorLocation[],
  outcome: Outcome | null,
): Promise<Sent[]> {
  const { reading } = await import('../../daemon/state/state.ts')
  const { recordedAt } = await import('../../daemon/report/mirrored-pictures.ts')
  const { orNull } = await import('../../daemon/or-null.ts')
  const { realDisk } = await import('../../local/disk.ts')
  const { isSameLook } = await import('../../local/look.ts')
  const { fileAt } = await import('../../sync/tree-path.ts')
  const { explain, whyNotThere } = await import('../../daemon/report/explain.ts')
  const { stateIsLocked } = await import('../../synced/lock.ts')
  const { stateFiles } = await import('../../daemon/state/claim.ts')
  const running = stateIsLocked(stateFiles(config.state_dir).lock)
  const now = systemClock.wall()
  const whyNot = (synced: Synced, place: MirrorLocation, file: FileRow | undefined, isGone: boolean): Why => {
    const known = () => whyNotThere(explain({ config, synced, disk: realDisk, running, now }, place))
    if (isGone) return file === undefined || known().code === 'MOVED' ? known() : GONE
    // A failure stays recorded until another try has ended, so of a pending picture it tells nothing.
    const failure = file && file.state !== 'pending' && synced.failures.of(file.folder, file.name)
    return (failure && ofFailure(failure)) || (outcome?.waits.get(pathOfPlace(place)) ?? known())
  }
  return reading(config, async synced =>
    places.map(place => {
      const path = pathOfPlace(place)
      const row = synced.mirrors.of(place.mirror.folder)
      const file = row && fileAt(synced, row.id, place.path)
      const recorded = recordedAt(synced, place)
      const picture = recorded.kind === 'picture' ? recorded.picture : null
      const now = orNull(() => realDisk.lstat(path))
      const ctime = outcome && file?.ctime === 0 ? now?.ctime : file?.ctime
      const isThere =
        picture?.state === 'synced' && now !== null && isSameLook({ ...file!, ctime: ctime! }, now)
      if (isThere && picture.url) return { path, cdn_url: picture.url, code: null, reason: null }
      const why = whyNot(synced, place, file, now === null)
      return { path, cdn_url: null, code: why.code, reason: reasonOf(why, path, outcome?.byDaemon ?? false) }
    }),
  )
}

function ofFailure({ code, message, next_attempt_at }: FailureRow): Why {
  const reason = inWords(message)
  return next_attempt_at === null ? { code, reason } : { code, reason, again: isoTime(next_attempt_at) }
}
