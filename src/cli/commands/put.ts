import { resolve } from 'node:path'
import type { Config } from '../../config/schema.ts'
import type { Ended, Sent } from '../../daemon/report/sent-pictures.ts'
import { systemClock } from '../../protocol/clock.ts'
import type { MirrorLocation } from '../../sync/scan/index.ts'
import { inWords } from '../../words/reasons.ts'
import { printable } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import {
  configCommand,
  jsonOption,
  locationsToSend,
  looksToSend,
  pathArgument,
  quietOption,
  valued,
} from '../options.ts'
import { EXIT, Problem } from '../problem.ts'
import { printJson, printLine, sayAside } from '../terminal/output.ts'

export const putCommand = configCommand(
  options =>
    options
      .positional('files', {
        type: 'string',
        array: true,
        demandOption: true,
        describe: 'Pictures in the folder of a mirror; with --to, from anywhere',
      })
      .options({
        to: valued('Copy the pictures into this folder of a mirror first, never over another file'),
        ...quietOption,
        ...jsonOption,
      })
      .example('$0 put ~/Pictures/Holiday/a.jpg', 'Its address on standard output, once it is on the host')
      .example('$0 put /tmp/shot.png --to ~/Pictures/Screenshots', 'The same for a picture from elsewhere')
      .epilogue(
        'It prints one address a line, in the order of the arguments. A picture that can not be sent now has its reason on standard error instead; for several files, scripts read --json. Nothing else is sent, and nothing is deleted. With --to, a picture whose bytes lie in the folder already is not copied again, and another one of its name gets a number: a-1.png.',
      ),
  async (config, { files, to, quiet, json }, onInterrupts) => {
    const taken =
      to === undefined ? await locationsToSend(config, files, true) : await copied(config, files, to)
    const places = taken.filter(one => 'mirror' in one)
    const ready = await readyToSend(places)
    const interrupts = onInterrupts(() => sayAside('stopping'))
    const before = await results(config, places, null)
    const isThere = before.every(({ cdn_url }) => cdn_url !== null)
    const ended =
      isThere || ready.length === 0
        ? null
        : await send(config, ready, interrupts, quiet ? () => {} : sayAside)
    const ends = (ended === null ? before : await results(config, places, ended)).values()
    const sent = taken.map(one => ('mirror' in one ? ends.next().value! : one))
    if (json) printJson({ pictures: sent })
    else
      for (const { path, cdn_url, reason } of sent) {
        if (cdn_url !== null) printLine(cdn_url)
        if (reason !== null) sayAside(`${path}: ${reason}`)
      }
    if (sent.every(({ cdn_url }) => cdn_url !== null)) return EXIT.inSync
    return ended?.isRefused ? EXIT.refused : EXIT.left
  },
)

/** Copies pictures into a folder of a mirror. One that is refused does not keep the others. Throws NotPossible where no try can help. */
async function copied(
  config: Config,
  files: readonly string[],
  to: string,
): Promise<(MirrorLocation | Sent)[]> {
  const { openIntake, pictureIn } = await import('../../daemon/intake/intake.ts')
  const { readState } = await import('../../daemon/state/state.ts')
  const { NotPossible } = await import('../../daemon/commands/command.ts')
  const folder = resolve(pathArgument(to)!)
  const intake = readState(config, synced => openIntake(config, synced, folder))
  const taken: (MirrorLocation | Sent)[] = []
  for (const path of files.map(file => resolve(file)))
    try {
      taken.push(await intake(pictureIn(path)))
    } catch (error) {
      if (!(error instanceof NotPossible)) throw error
      taken.push({ path, cdn_url: null, code: error.code!, reason: error.message })
    }
  if (taken.some(one => 'mirror' in one || one.code === 'NOT_READY')) return taken
  throw new NotPossible(taken.map(one => ('mirror' in one ? '' : `${one.path}: ${one.reason}`)).join('; '))
}

/** The paths of the pictures that can be sent now. Left out are files that are gone or still empty, as tools for screenshots make
 * them first. Throws Problem for a path that is no picture that a scan would find. */
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

const INTERRUPTED = { code: 'INTERRUPTED', reason: 'interrupted' }

/** Has only these pictures sent. Returns when the last of them is done, even when a daemon goes on with others. */
async function send(
  config: Config,
  paths: string[],
  { stop, cut }: { stop: AbortSignal; cut: AbortSignal },
  say: (line: string) => void,
): Promise<Ended> {
  const { endsOf, whyStopped } = await import('../../daemon/report/sent-pictures.ts')
  const { emit, done } = endsOf(paths)
  const leave = AbortSignal.any([stop, done.signal])
  try {
    const { result } = await carryOut(config, 'put', { paths }, { stop, cut }, { emit, say }, leave)
    return stop.aborted
      ? { isRefused: false, why: INTERRUPTED }
      : { isRefused: result.verdict === 'refused', why: whyStopped(result) }
  } catch (error) {
    if (!leave.aborted || (error as { code?: string }).code !== 'LEFT') throw error
    return { isRefused: false, why: stop.aborted ? INTERRUPTED : null }
  } finally {
    done.abort()
  }
}

/** What became of the pictures, by the records. `ended`: the pass. Null before it. */
async function results(
  config: Config,
  places: readonly MirrorLocation[],
  ended: Ended | null,
): Promise<Sent[]> {
  const { reading } = await import('../../daemon/state/state.ts')
  const { sentPictures } = await import('../../daemon/report/sent-pictures.ts')
  const { stateIsLocked } = await import('../../synced/lock.ts')
  const { stateFiles } = await import('../../daemon/state/claim.ts')
  const running = stateIsLocked(stateFiles(config.state_dir).lock)
  const now = systemClock.wall()
  return reading(config, async synced => sentPictures({ config, synced, running, now }, places, ended))
}
