import type { Config } from '../../config/schema.ts'
import type { MirrorLocation } from '../../sync/outlook/index.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import { printable } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import { configCommand, jsonOption, quietOption } from '../options.ts'
import { EXIT, Problem } from '../problem.ts'
import { printJson, printLine, sayAside } from '../terminal/output.ts'
import { locationsToActOn } from './ls.ts'

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
        'It sends each picture at once, and prints one address a line, in the order of the arguments. While run ' +
          'runs, run sends them, before what waits already. Nothing else is sent or deleted. The command does not wait for a ' +
          'picture that can not be sent now, such as one that is still being written: the picture is named on standard error ' +
          'with the reason, and the command ends with 3, or with 5 where the host refused the key. A file outside of the mirrors, or one that is left out, is refused before anything is sent.',
      ),
  async (config, { files, json }, onInterrupts) => {
    const { refuseMissingFolders } = await import('../read-config.ts')
    refuseMissingFolders(config)
    const places = await locationsToActOn(config, files)
    await refuseUnsendable(places)
    const interrupts = onInterrupts(() => sayAside('stopping'))
    const before = await results(config, places, null)
    const isThere = before.every(({ cdn_url }) => cdn_url !== null)
    const outcome = isThere ? null : await send(config, places.map(pathOfPlace), interrupts)
    const sent = outcome === null ? before : await results(config, places, outcome.waits)
    if (json) printJson({ pictures: sent })
    else
      for (const { path, cdn_url, reason } of sent)
        if (cdn_url !== null) printLine(cdn_url)
        else sayAside(`${path}: ${reason}`)
    const left = sent.filter(({ cdn_url }) => cdn_url === null)
    if (left.length === 0) return EXIT.inSync
    if (!json && outcome?.later) sayAside(outcome.later)
    return outcome?.refused ? EXIT.refused : EXIT.left
  },
)

function pathOfPlace({ mirror, path }: MirrorLocation): string {
  return `${mirror.folder}/${path}`
}

/** Throws Problem when a path is no picture that a scan would find. */
async function refuseUnsendable(places: readonly MirrorLocation[]): Promise<void> {
  const { realDisk } = await import('../../local/disk.ts')
  const { lookAt } = await import('../../sync/outlook/index.ts')
  const { inWords } = await import('../../words/reasons.ts')
  for (const place of places) {
    const found = lookAt(realDisk, place)
    const at = printable(pathOfPlace(place))
    if (found.kind === 'absent') throw new Problem(`${at}: No such file`)
    if (found.kind === 'folder')
      throw new Problem(`${at} is a folder. "albumd sync ${at}" sends what is in it`)
    if (found.kind === 'left_out') throw new Problem(`${at} is left out: ${inWords(found.reason)}`)
    if (found.kind === 'unknown') throw new Problem(`${at} can't be read (${found.message})`)
  }
}

/** The events after which nothing more happens with a picture in this pass. */
const ENDS: ReadonlySet<SpokenEvent['event']> = new Set([
  'picture_uploaded',
  'picture_unchanged',
  'picture_linked',
  'picture_failed',
  'picture_uncertain',
])

/** Why a picture is not on the host. */
interface Why {
  code: string
  reason: string
}

interface Outcome {
  /** Why pictures wait, by their paths. */
  waits: ReadonlyMap<string, Why>
  /** Whether what waits is sent later. Null: nothing waits. */
  later: string | null
  /** The host refused the key or the plan. */
  refused: boolean
}

/**
 * Has the pictures sent, and nothing else. Returns when the last of them is done, although a daemon may go on with other
 * pictures.
 */
async function send(
  config: Config,
  paths: string[],
  { stop, cut }: { stop: AbortSignal; cut: AbortSignal },
): Promise<Outcome> {
  const { PLAN_REMEDY, stoppedInWords } = await import('../one-pass.ts')
  const done = new AbortController()
  const left = new Set(paths)
  const waits = new Map<string, Why>()
  const tell = (told: SpokenEvent) => {
    if (!('path' in told)) return
    const path = `${told.mirror}/${told.path}`
    if (told.event === 'picture_waits') waits.set(path, { code: 'NOT_READY', reason: told.message })
    if (!ENDS.has(told.event)) return
    left.delete(path)
    if (left.size === 0) done.abort()
  }
  const leave = AbortSignal.any([stop, done.signal])
  try {
    const request = { pruneIgnored: false, paths, alone: true }
    const { result, byDaemon } = await carryOut(config, 'sync', request, { stop, cut }, { tell }, leave)
    const { paused } = result
    const [stopped] = result.stopped
    const { pauseInWords } = await import('../../daemon/state/pause.ts')
    const all = paused
      ? { code: 'PAUSED', reason: pauseInWords(paused) }
      : stopped && { code: stopped.code, reason: stoppedInWords(stopped, PLAN_REMEDY, result.uploads_go_on) }
    if (all) for (const path of left) waits.set(path, all)
    const later = left.size === 0 ? null : byDaemon ? SENT_LATER : NOT_SENT_LATER
    return { waits, later, refused: result.verdict === 'refused' }
  } catch (error) {
    if (!done.signal.aborted || (error as { code?: string }).code !== 'LEFT') throw error
    return { waits, later: null, refused: false }
  }
}

const SENT_LATER = 'The running albumd sends by itself what waits. "albumd why PATH" tells when'
const NOT_SENT_LATER =
  'Nothing sends later what waits, because albumd does not run. Put it again, or start "albumd run"'

interface Sent {
  path: string
  /** Null: the picture as it is now is not on the host. */
  cdn_url: string | null
  /**
   * Why it is not there, for a program. NOT_READY: the file is still being written. PAUSED: albumd is paused. WAITS: for
   * something else. Every other code is a failure's or the host's. Null: it is there.
   */
  code: string | null
  /** Why it is not there, for a person. Null: it is there. */
  reason: string | null
}

/**
 * What the records say of the pictures, as they are on the disk at this moment. A picture that was read just after it was
 * written is recorded with the ctime 0, because it may have changed since; before the pass it is sent or compared. `waits`:
 * why pictures wait, by their paths; null before the pass.
 */
async function results(
  config: Config,
  places: readonly MirrorLocation[],
  waits: Outcome['waits'] | null,
): Promise<Sent[]> {
  const { reading } = await import('../../daemon/state/state.ts')
  const { recordedAt } = await import('../../daemon/report/mirrored-pictures.ts')
  const { orNull } = await import('../../daemon/or-null.ts')
  const { realDisk } = await import('../../local/disk.ts')
  const { isSameLook } = await import('../../local/look.ts')
  const { inWords } = await import('../../words/reasons.ts')
  const { fileAt } = await import('../../sync/tree-path.ts')
  return reading(config, async synced =>
    places.map(place => {
      const path = pathOfPlace(place)
      const row = synced.mirrors.of(place.mirror.folder)
      const file = row && fileAt(synced, row.id, place.path)
      const recorded = recordedAt(synced, place)
      const picture = recorded.kind === 'picture' ? recorded.picture : null
      const now = orNull(() => realDisk.lstat(path))
      const ctime = waits && file?.ctime === 0 ? now?.ctime : file?.ctime
      const isThere = file?.state === 'synced' && now !== null && isSameLook({ ...file, ctime: ctime! }, now)
      if (isThere && picture?.url) return { path, cdn_url: picture.url, code: null, reason: null }
      const failure = file && synced.failures.of(file.folder, file.name)
      const why = failure && { code: failure.code, reason: inWords(failure.message) }
      return { path, cdn_url: null, ...(why ?? waits?.get(path) ?? NOT_YET) }
    }),
  )
}

const NOT_YET = { code: 'WAITS', reason: 'not on the host yet. "albumd why PATH" tells what it waits for' }
