import type { Explanation, PathImage } from '../../daemon/report/explain.ts'
import type { PathState } from '../../daemon/report/path-state.ts'
import { stepInWords } from '../../daemon/report/step.ts'
import { systemClock } from '../../protocol/clock.ts'
import { count, countLeftOut, inDigits, localTime, printable, sizeInWords } from '../../words/text.ts'
import { configCommand, jsonOption, locationsToActOn, pathArgument } from '../options.ts'
import { EXIT, sayStateProblem } from '../problem.ts'
import { print, printJson } from '../terminal/output.ts'

export const whyCommand = configCommand(
  options =>
    options
      .positional('path', {
        type: 'string',
        demandOption: true,
        describe: "Absolute, or below a mirror's folder, or an image's id or address",
      })
      .options(jsonOption)
      .example('$0 why Holiday/a.jpg', 'Why is it not on the host yet?'),
  async (config, { path: named, json }) => {
    await sayStateProblem(config)
    const { readState } = await import('../../daemon/state/state.ts')
    const { pathOfImage } = await import('../../daemon/report/mirrored-pictures.ts')
    const path = readState(config, synced => pathOfImage(synced, named)) ?? named
    await locationsToActOn(config, [path])
    const { explainPath } = await import('../../daemon/report/explain.ts')
    const explained = await explainPath(config, pathArgument(path)!, systemClock.wall())
    const [only, another] = explained
    if (json) printJson(another ? { paths: explained } : only!)
    else print(explained.map(inWords).join('\n'))
    return EXIT.inSync
  },
)

const STATES: Record<PathState, string> = {
  pending: 'waits to be uploaded',
  synced: 'on the host',
  linked: 'linked to an image on the host',
  gone_on_host: 'gone from the host',
  uncertain: 'sent, and whether it arrived is not known',
  failed: 'failed',
  gone: 'its image waits to be deleted',
  kept: 'kept',
  hidden: 'left out; its image stays',
  unseen: 'new',
  absent: 'not there',
  left_out: 'left out',
  unknown: 'not known',
  folder: 'a folder',
}

/** The words with which pictures of a state are counted, as in `albumd status`. Other states are called by their names. */
const COUNTED: Partial<Record<string, string>> = {
  pending: 'to upload',
  synced: 'on the host',
  linked: 'linked to images on the host',
  gone_on_host: 'gone from the host',
}

const PROOFS: Record<PathImage['proof'], string> = {
  uploaded: 'uploaded',
  compared: 'its bytes were compared',
  none: 'its bytes were not compared',
}

export function stateInWords({
  state,
  reason,
  next,
}: Pick<Explanation, 'state' | 'reason' | 'next'>): string {
  const isCompared = next.some(({ code }) => code === 'will_be_compared')
  return printable(`${isCompared ? 'waits to be compared' : STATES[state]}: ${reason}`)
}

function inWords(explained: Explanation): string {
  const { path, state, album, file, sha256, image, deletions, kept, counts, failure, next, history } =
    explained
  const rows: [string, string][] = [['state', stateInWords(explained)]]
  if (file) rows.push(['file', `${sizeInWords(file.size)}, modified ${localTime(file.modified_at)}`])
  if (counts) rows.push(['holds', countsInWords(counts)])
  const inAlbum = album.path === '' ? 'the root' : `"${printable(album.path)}"`
  if (state !== 'left_out')
    rows.push(['album', `${inAlbum}${album.id === null && album.path !== '' ? ' (not made yet)' : ''}`])
  if (image) rows.push(['image', imageInWords(image)])
  for (const given of deletions)
    if (given.image_id !== image?.image_id) rows.push(['old', imageInWords(given)])
  for (const old of kept) rows.push(['old', `stays for good: ${imageInWords(old)}`])
  if (sha256) rows.push(['sha256', sha256])
  if (failure) rows.push(['tries', count(failure.attempts, 'attempt')])
  for (const step of next) rows.push(['next', stepInWords(step)])
  for (const { at, event, detail } of history) {
    const what = event.replace('_', ' ')
    const told = detail?.startsWith(what) ? detail : [what, detail].filter(part => part !== null).join(': ')
    rows.push(['history', `${localTime(at)} ${printable(told)}`])
  }
  return `${[printable(path), ...rowsInWords(rows)].join('\n')}\n`
}

/** Lines with a name before each text. Of several texts with one name, only the first line shows it. */
export function rowsInWords(rows: readonly [name: string, text: string][]): string[] {
  return rows.map(([name, text], at) => `  ${(rows[at - 1]?.[0] === name ? '' : name).padEnd(8)}${text}`)
}

function imageInWords({ image_id, cdn_url, recorded_at, proof }: PathImage): string {
  return printable(
    `${image_id}, ${PROOFS[proof]}, ${localTime(recorded_at)}  ${cdn_url ?? 'delivery address not known'}`,
  )
}

function countsInWords({ files, states, left_out }: NonNullable<Explanation['counts']>): string {
  // `files` does not count pictures that are gone, so these are named apart.
  const { gone, ...present } = states
  const ofStates = Object.entries(present).map(([state, n]) => `, ${inDigits(n)} ${COUNTED[state] ?? state}`)
  const left = Object.entries(left_out).flatMap(([why, n]) => (n > 0 ? [countLeftOut(why, n)] : []))
  return [
    count(files, 'picture') + ofStates.join(''),
    ...(gone ? [`${inDigits(gone)} gone from the disk`] : []),
    ...(left.length > 0 ? [`left out: ${left.join(', ')}`] : []),
  ].join('; ')
}
