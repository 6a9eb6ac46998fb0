import { keyRemedy } from '../config/host-access.ts'
import type { Config } from '../config/schema.ts'
import type { CommandName, RequestOf, ResultOf } from '../daemon/commands/all.ts'
import type { PassResult } from '../daemon/commands/sync.ts'
import type { LeftOf } from '../daemon/report/status.ts'
import { pauseInWords } from '../daemon/state/pause.ts'
import type { HostFailure } from '../remote/host.ts'
import type { SpokenEvent } from '../sync/pass-events.ts'
import { fullPath } from '../sync/tree-path.ts'
import { LEFT } from '../synced/summary.ts'
import { because, hostRefusesKey, inWords, ofWholeHost } from '../words/reasons.ts'
import { count, countEach, foldersInDoubt, inDigits, isoTime, localTime, printable } from '../words/text.ts'
import { carryOut } from './carry-out.ts'
import { EXIT } from './problem.ts'
import type { OnInterrupts } from './terminal/interrupts.ts'
import { printJson, printLine, sayAside } from './terminal/output.ts'
import { adoptionInWords, eventInWords, noProgress, progressOn, tellPass } from './terminal/progress.ts'

type PassName = { [N in CommandName]: ResultOf<N> extends PassResult ? N : never }[CommandName]

export interface NotReady {
  path: string
  reason: string
}

/** What a command writes. `quiet`: nothing on standard output, and only failures and what is left on standard error. `notReady`:
 * the named files that can't be sent yet. */
export interface Shown {
  json: boolean
  quiet: boolean
  notReady?: readonly NotReady[]
}

export async function onePass<N extends PassName>(
  config: Config,
  name: N,
  request: RequestOf<N>,
  { json, quiet, notReady = [] }: Shown,
  onInterrupts: OnInterrupts,
): Promise<{ exitCode: number; result: ResultOf<N> }> {
  // Named paths were checked by `locationsToSend` already.
  if (!('paths' in request)) {
    const { refuseMissingFolders } = await import('./read-config.ts')
    refuseMissingFolders(config)
  }
  const progress = json || quiet ? noProgress : await progressOn(process.stdout)
  const interrupts = onInterrupts(() => progress.say('stopping'))
  const done = new Tally()
  const hasOneMirror = config.mirrors.length === 1
  /** What was said of scans. Everything is scanned again before deletions, and mostly found as it was. */
  const scans = new Set<string>()
  const emit = (emitted: SpokenEvent) => {
    done.add(emitted)
    const shown = hasOneMirror ? emitted : withWholePath(emitted)
    if (quiet && emitted.event === 'picture_failed') sayAside(eventInWords(shown)!)
    // An interrupted scan has not counted the whole folder, and nothing of what is planned begins.
    if ((emitted.event === 'scan_finished' || emitted.event === 'uploads_started') && interrupts.stop.aborted)
      return
    if (emitted.event === 'scan_finished') {
      const line = eventInWords(shown)!
      if (scans.has(line)) return
      scans.add(line)
    }
    // This event is not shown, because the report at the end tells why the uploads stopped.
    if (emitted.event !== 'uploads_stopped')
      tellPass(progress, shown, name === 'adopt' ? adoptionInWords : eventInWords)
  }
  try {
    const carried = await carryOut(config, name, request, interrupts, { emit })
    const result: ResultOf<N> & PassResult = carried.result
    progress.end()
    const { verified } = result as Partial<ResultOf<'adopt'>>
    const notCompared = verified?.unknown ?? null
    const exitCode = Math.max(
      exitCodeOf(result),
      notCompared || notReady.length > 0 ? EXIT.left : EXIT.inSync,
    )
    const isInterrupted = interrupts.stop.aborted && result.verdict !== 'in_sync'
    const leavesDeletions = name === 'retry' && !carried.byDaemon
    const isNamed = 'paths' in request || ('path' in request && request.path !== undefined)
    const end = { notCompared, notReady, isInterrupted, leavesDeletions, hasOneMirror, isNamed, quiet }
    if (json) printJson({ ...inJson(exitCode, done, result, end), ...(verified && { verified }) })
    else
      report(
        done,
        end,
        result,
        remediesOf(config, name, carried.byDaemon),
        quiet ? (exitCode === EXIT.inSync ? () => {} : sayAside) : printLine,
      )
    for (const { path, reason } of notReady) sayAside(`${printable(path)}: ${reason}`)
    return { exitCode, result }
  } finally {
    progress.end()
  }
}

function withWholePath(emitted: SpokenEvent): SpokenEvent {
  return 'path' in emitted ? { ...emitted, path: fullPath(emitted.mirror, emitted.path) } : emitted
}

export function exitCodeOf({ verdict, paused }: PassResult): number {
  return paused ? EXIT.left : { in_sync: EXIT.inSync, left: EXIT.left, refused: EXIT.refused }[verdict]
}

export function inJson(
  exit_code: number,
  { counts, unready }: Tally,
  { left, stopped, mirrors, paused }: PassResult,
  { notReady = [], isInterrupted = false }: End = {},
): object {
  return {
    exit_code,
    ...counts,
    waiting: sumOf(left, 'pending_uploads'),
    left: {
      ...Object.fromEntries(LEFT.map(field => [field, sumOf(left, field)])),
      guarded: guardedIn(left).size,
    },
    not_ready: [...notReady, ...unready].map(file => ({ ...file, code: 'NOT_READY' })),
    interrupted: isInterrupted,
    stopped: stopped.map(refusalInJson),
    mirrors,
    ...(paused && { paused: { until: isoTime(paused.until) } }),
  }
}

function guardedIn(left: readonly LeftOf[]): ReadonlySet<string> {
  return new Set(left.filter(({ state }) => state === 'guarded').map(({ folder }) => folder))
}

interface End {
  /** How many linked images could not be compared; null when the command compares none. */
  notCompared?: number | null
  notReady?: readonly NotReady[]
  isInterrupted?: boolean
  isPaused?: boolean
  /** Whether images of pictures that are gone stay, because the command deletes none and no daemon does. */
  leavesDeletions?: boolean
  hasOneMirror?: boolean
  isNamed?: boolean
  /** Whether no line has said yet what each picture waits for. */
  quiet?: boolean
}

function report(
  done: Tally,
  end: End,
  { left, stopped, paused, uploads_go_on }: PassResult,
  remedies: Remedies,
  say: (line: string) => void,
): void {
  // What ended the work comes before what is left.
  sayStopped(stopped, { ...remedies, goesOn: uploads_go_on })
  const { linked } = done.counts
  if (linked > 0 && (end.notCompared ?? null) === null)
    say(inWords(because('linked_pictures', { pictures: linked })))
  const words = done.inWords(left, stopped, { ...end, isPaused: paused !== null })
  if (paused) say(pauseInWords(paused))
  if (words) say(words)
  const [flat, gone] = [sumOf(left, 'flat'), sumOf(left, 'gone_on_host')]
  if (flat > 0) say(inWords(because('flat_pictures', { pictures: flat })))
  if (gone > 0) say(inWords(because('gone_on_host', { pictures: gone })))
}

interface Remedies {
  key: string
  plan: string
  away?: string
  /** When uploads go on after a used-up quota, ISO 8601. */
  goesOn?: string | null
  wasAsked?: boolean
}

function remediesOf(config: Config, name: PassName, byDaemon: boolean): Remedies {
  return {
    key: keyRemedy(config, byDaemon ? null : process.env),
    plan: PLAN_REMEDY,
    away: byDaemon
      ? 'albumd tries again by itself'
      : `run "albumd ${name}" again later, or "albumd run", which tries again by itself`,
    // The host has just answered this command.
    wasAsked: name === 'retry',
  }
}

export function sayStopped(stopped: readonly HostFailure[], remedies: Remedies): void {
  // When the host gave the same answer for two endpoints, it is told once.
  const wasAsked = remedies.wasAsked || stopped.some(({ remedy }) => remedy === 'key')
  for (const line of new Set(stopped.map(failure => stoppedInWords(failure, { ...remedies, wasAsked }))))
    sayAside(line)
}

export function stoppedInWords(
  failure: Pick<HostFailure, 'code' | 'endpoint' | 'message' | 'remedy'>,
  { key, plan, away, goesOn = null, wasAsked = false }: Remedies,
): string {
  const { code, message, remedy } = failure
  const remedies: { [remedy in HostFailure['remedy']]?: string } = {
    ...(hostRefusesKey(failure) && { key: `; ${key}` }),
    plan: `; ${plan}`,
    ...(goesOn !== null && {
      quota: `; uploads go on after ${localTime(goesOn)}, in "albumd run" by themselves${wasAsked ? '' : ` (${inWords(because('quota_raised'))})`}`,
    }),
  }
  const waits = away && ofWholeHost(failure) === 'host_away' ? `; ${away}` : ''
  return `${inWords(message)} (${code})${remedies[remedy] ?? waits}`
}

const PLAN_REMEDY = '"albumd doctor" says what the plan allows; with a larger one albumd goes on by itself'

const BY_SYNC = 'left to "albumd sync" or "albumd run"'

export const TELLS_MORE = '"albumd status" tells more'

export const ALL_IN_SYNC = 'nothing to do: all in sync'

const COUNTED: Partial<Record<SpokenEvent['event'], keyof Tally['counts']>> = {
  picture_uploaded: 'uploaded',
  picture_unchanged: 'unchanged',
  picture_linked: 'linked',
  picture_failed: 'failed',
  picture_uncertain: 'uncertain',
  image_deleted: 'deleted',
  image_kept: 'kept',
  album_created: 'albums_made',
  album_deleted: 'albums_deleted',
}

export class Tally {
  readonly counts = {
    uploaded: 0,
    unchanged: 0,
    linked: 0,
    failed: 0,
    uncertain: 0,
    deleted: 0,
    kept: 0,
    albums_made: 0,
    albums_deleted: 0,
  }

  /** How many unchanged pictures had their image fetched and compared. The summary does not mention other unchanged
   * pictures. */
  #compared = 0

  /** How many of the deleted images had a newer image of their picture in their place. */
  #replaced = 0

  /** The pictures that wait, and for what. This is a map, because a picture may be tried several times. */
  readonly #waiting = new Map<string, { path: string; message: string }>()

  get unready(): NotReady[] {
    return Array.from(this.#waiting, ([path, { message: reason }]) => ({ path, reason }))
  }

  add(emitted: SpokenEvent): void {
    const { event } = emitted
    const field = COUNTED[event]
    if (field) this.counts[field]++
    if (event === 'picture_unchanged' && emitted.compared) this.#compared++
    if (event === 'image_deleted' && emitted.reason === 'superseded') this.#replaced++
    if (!('path' in emitted) || (this.#waiting.size === 0 && event !== 'picture_waits')) return
    const picture = fullPath(emitted.mirror, emitted.path)
    if (event === 'picture_waits') this.#waiting.set(picture, emitted)
    // After `change_found` the picture does not wait any more, because the file is gone or has a new version.
    else if (event.startsWith('picture_') || event === 'change_found') this.#waiting.delete(picture)
  }

  /** The summary of what was done and what is left. Empty where it would be "all in sync", and that is not known. */
  inWords(left: PassResult['left'], stopped: readonly HostFailure[], end: End = {}): string {
    const { uploaded, unchanged, linked, deleted, albums_made, albums_deleted, failed: tried } = this.counts
    const replaced = this.#replaced
    const done = listed([
      [uploaded, `${count(uploaded, 'picture')} uploaded`],
      [this.#compared, `${count(this.#compared, 'picture')} found on the host by the bytes`],
      [linked, `${count(linked, 'picture')} linked`],
      [
        deleted,
        `${count(deleted, 'image')} deleted${replaced > 0 ? ` (${inDigits(replaced)} replaced by newer ones)` : ''}`,
      ],
      [albums_deleted, `${count(albums_deleted, 'album')} deleted`],
    ])
    // Counted too, because these pictures would seem forgotten otherwise.
    const others = listed([
      [unchanged, `${count(unchanged, 'picture')} found unchanged`],
      [albums_made, `${count(albums_made, 'album')} made`],
    ])
    const what = done || others || 'nothing done'
    const all = this.leftInWords(left, end)
    if (end.isInterrupted) return `interrupted; ${what}${all && `; ${all}`}. "albumd sync" goes on`
    if (all) return `${what}; ${all}. ${TELLS_MORE}`
    if (done) return done
    if (stopped.length > 0) return 'nothing done'
    // Pictures were tried again and are not left, because a person accepted their failures.
    if (tried > 0) return 'nothing else to do'
    // Without a pass nobody knows whether all is in sync. A named file that can't be sent yet is not.
    if (end.isPaused || end.notReady?.length) return ''
    return end.isNamed ? 'nothing to do: what was named is in sync' : ALL_IN_SYNC
  }

  leftInWords(
    left: PassResult['left'],
    { notCompared, isInterrupted = false, leavesDeletions = false, hasOneMirror = true, quiet }: End = {},
  ): string {
    const sum = (field: Counted) => sumOf(left, field)
    const inDoubt = sum('folders_in_doubt')
    const failed = sum('failed') - inDoubt
    // After an interruption, a guard that ends by itself only says that the scan was not finished.
    const guarded = guardedIn(left.filter(({ needs_person }) => needs_person || !isInterrupted)).size
    const unready = Math.min(this.#waiting.size, sum('pending_uploads'))
    const ready = sum('pending_uploads') - unready
    // When all pictures wait for the same thing, the summary names it, unless that was just said. Otherwise "albumd status" does.
    const [first, ...others] = Array.from(this.#waiting, ([whole, { path, message }]) => ({
      path: hasOneMirror ? path : whole,
      message,
    }))
    const isOne = quiet && first !== undefined && others.every(({ message }) => message === first.message)
    const more = unready > 1 ? ` and ${inDigits(unready - 1)} more` : ''
    const all = countEach(
      [ready, 'to upload'],
      [unready, `waiting${isOne ? ` (${printable(first.path)}${more}: ${first.message})` : ''}`],
      [failed, 'failed'],
      [inDoubt, foldersInDoubt(inDoubt)],
      [sum('uncertain'), 'uncertain'],
      [sum('gone_on_host'), 'gone from the host'],
      [
        sum('pending_deletions'),
        `to delete (${leavesDeletions ? `${BY_SYNC}; ` : ''}"albumd deletions list" says what each waits for)`,
      ],
      [sum('held_deletions'), 'held'],
      [guarded, guarded === 1 ? 'mirror guarded' : 'mirrors guarded'],
      [notCompared ?? 0, 'linked and not compared'],
    )
    return all.length > 0 ? `left: ${all.join(', ')}` : ''
  }
}

type Counted = { [F in keyof LeftOf]: LeftOf[F] extends number ? F : never }[keyof LeftOf]

function sumOf(left: readonly LeftOf[], field: Counted): number {
  return left.reduce((total, each) => total + each[field], 0)
}

function listed(parts: [number, string][]): string {
  return parts
    .filter(([n]) => n > 0)
    .map(([, words]) => words)
    .join(', ')
}

export function refusalInJson({ endpoint, code, message }: HostFailure): object {
  return { endpoint, code, message: inWords(message) }
}
