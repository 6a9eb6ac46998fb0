import type { Config } from '../../config/schema.ts'
import type { Explanation } from '../../daemon/report/explain.ts'
import { stepInWords } from '../../daemon/report/step.ts'
import { systemClock } from '../../protocol/clock.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { MirrorLocation } from '../../sync/scan/index.ts'
import { inWords } from '../../words/reasons.ts'
import { printable } from '../../words/text.ts'
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
          'files a script reads --json, which names each path. While run runs, run sends them, before what waits already. Without run, put runs notify.on_upload after it has printed the addresses, and waits for its end, before it writes what --json asks for. Nothing else is sent, and nothing is deleted: the image of a picture that put finds gone or replaced goes with the next sync, or after the grace of run. The command does not wait for a ' +
          'picture that can not be sent now, such as one that is gone, empty or still being written: the picture is named on standard error ' +
          'with the reason, and the command ends with 3, or with 5 where the host refused the key. A file outside of the mirrors, or one that is left out, is refused before anything is sent.',
      ),
  async (config, { files, quiet, json }, onInterrupts) => {
    const places = await locationsToSend(config, files, true)
    const ready = await readyToSend(places)
    const interrupts = onInterrupts(() => sayAside('stopping'))
    const paths = places.map(pathOfPlace)
    const known = json ? () => {} : addressPrinter(paths)
    const before = await results(config, places, null)
    for (const { path, cdn_url } of before) if (cdn_url !== null) known(path, cdn_url)
    const isThere = before.every(({ cdn_url }) => cdn_url !== null)
    const ended =
      isThere || ready.length === 0
        ? null
        : await send(config, ready, interrupts, { say: quiet ? () => {} : sayAside, known })
    const sent = ended === null ? before : await results(config, places, ended)
    if (json) printJson({ pictures: sent })
    else
      for (const { path, cdn_url, reason } of sent) {
        known(path, cdn_url)
        if (reason !== null) sayAside(`${path}: ${reason}`)
      }
    if (sent.every(({ cdn_url }) => cdn_url !== null)) return EXIT.inSync
    return ended?.isRefused ? EXIT.refused : EXIT.left
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

function pathOfPlace({ mirror, path }: MirrorLocation): string {
  return `${mirror.folder}/${path}`
}

/** The paths of the pictures that can be sent at this moment: neither gone nor empty, as tools that take screenshots make them
 * first. Throws Problem when a path is no picture that a scan would find. */
async function readyToSend(places: readonly MirrorLocation[]): Promise<string[]> {
  const ready: string[] = []
  for (const { path, found } of await looksToSend(places)) {
    const at = printable(path)
    if (found.kind === 'folder')
      throw new Problem(`${at} is a folder. "albumd sync ${at}" sends what is in it`)
    if (found.kind === 'unknown') throw new Problem(printable(inWords(found.why)))
    if (found.kind === 'picture') ready.push(path)
  }
  return ready
}

/** The events after which nothing more happens with a picture in this pass. */
const ENDS: ReadonlySet<SpokenEvent['event']> = new Set([
  'picture_uploaded',
  'picture_unchanged',
  'picture_linked',
  'picture_failed',
  'picture_uncertain',
])

/** How the sending ended. */
interface Ended {
  /** The host refused the key or the plan. */
  isRefused: boolean
  /** Why a picture waits of which the records tell nothing. */
  why: { code: string; reason: string } | null
}

const INTERRUPTED = { code: 'INTERRUPTED', reason: 'interrupted' }

/** Has the pictures sent, and nothing else. Returns when the last of them is done, although a daemon may go on with other
 * pictures. */
async function send(
  config: Config,
  paths: string[],
  { stop, cut }: { stop: AbortSignal; cut: AbortSignal },
  { say, known }: { say(line: string): void; known(path: string, address: string | null): void },
): Promise<Ended> {
  const left = new Set(paths)
  const done = new AbortController()
  const emit = (emitted: SpokenEvent) => {
    if (!('path' in emitted) || !ENDS.has(emitted.event)) return
    const path = `${emitted.mirror}/${emitted.path}`
    left.delete(path)
    if (emitted.event !== 'picture_uploaded' && emitted.event !== 'picture_unchanged') known(path, null)
    else if ('cdn_url' in emitted && emitted.cdn_url !== null) known(path, emitted.cdn_url)
    if (left.size === 0) done.abort()
  }
  const leave = AbortSignal.any([stop, done.signal])
  try {
    const { result } = await carryOut(config, 'put', { paths }, { stop, cut }, { emit, say }, leave)
    const [stopped] = result.stopped
    const why = stopped ? { code: stopped.code, reason: inWords(stopped.message) } : null
    return stop.aborted
      ? { isRefused: false, why: INTERRUPTED }
      : { isRefused: result.verdict === 'refused', why }
  } catch (error) {
    if (!leave.aborted || (error as { code?: string }).code !== 'LEFT') throw error
    return { isRefused: false, why: stop.aborted ? INTERRUPTED : null }
  } finally {
    done.abort()
  }
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
  /** Why it is not there and what comes next, for a person, as `albumd why` says it. Null: it is there. */
  reason: string | null
}

/** What the records say of the pictures, as they are on the disk at this moment. A picture that was read just after it was
 * written is recorded with the ctime 0, because it may have changed since; before the pass it is sent or compared. `ended`:
 * the pass; null before it. */
async function results(
  config: Config,
  places: readonly MirrorLocation[],
  ended: Ended | null,
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
  return reading(config, async synced =>
    places.map(place => {
      const path = pathOfPlace(place)
      const row = synced.mirrors.of(place.mirror.folder)
      const file = row && fileAt(synced, row.id, place.path)
      const recorded = recordedAt(synced, place)
      const picture = recorded.kind === 'picture' ? recorded.picture : null
      const look = orNull(() => realDisk.lstat(path))
      const ctime = ended && file?.ctime === 0 ? look?.ctime : file?.ctime
      const isThere =
        picture?.state === 'synced' && look !== null && isSameLook({ ...file!, ctime: ctime! }, look)
      if (isThere && picture.url) return { path, cdn_url: picture.url, code: null, reason: null }
      const told = explain({ config, synced, disk: realDisk, running, now }, place)
      const why = whyNotThere(told)
      const { code, reason } = (why.code === 'WAITS' && ended?.why) || why
      return { path, cdn_url: null, code, reason: withSteps(reason, told) }
    }),
  )
}

/** The reason, and what comes next. The first step may be the reason itself. */
function withSteps(reason: string, { cause, next }: Explanation): string {
  const steps = cause === null ? next.map(step => stepInWords(step)) : []
  return (steps[0]?.startsWith(reason) ? steps : [reason, ...steps]).join('; ')
}
