import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../protocol/clock.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { because, inWords } from '../../words/reasons.ts'
import { printable, shellWord } from '../../words/text.ts'
import { configCommand, jsonOption, locator } from '../options.ts'
import { EXIT, Problem, sayStateProblem } from '../problem.ts'
import { FORMATS, onePicture, UNKNOWN } from '../terminal/listing-formats.ts'
import { printJson, sayAside } from '../terminal/output.ts'

export const urlCommand = configCommand(
  options =>
    options
      .positional('file', {
        type: 'string',
        demandOption: true,
        describe: "Absolute, or below a mirror's folder, or an image's id or address",
      })
      .options({
        format: { choices: FORMATS, default: 'url' as const, describe: 'How it is shown' },
        ...jsonOption,
      })
      .example('$0 url Holiday/a.jpg', 'One address, and nothing else')
      .example('$0 url Holiday/a.jpg --format markdown', 'Ready to be pasted into a page')
      .epilogue('The exit code is 3 if the picture is not on the host, or only in an older version.'),
  async (config, { file, format, json }) => {
    await sayStateProblem(config)
    const { reading } = await import('../../daemon/state/state.ts')
    const { pathOfImage, recordedAt } = await import('../../daemon/report/mirrored-pictures.ts')
    const locate = await locator(config)
    const { places, found } = await reading(config, async synced => {
      const places = locate(synced, pathOfImage(synced, file, true) ?? file)
      return { places, found: places.map(place => recordedAt(synced, place)) }
    })
    // The path of a known place shows bytes that are not UTF-8 in a form that can be typed. A whole path means the same picture
    // in each working folder.
    const [place, another] = places
    const path = place && !another ? fullPath(place.mirror.folder, place.path) : file
    const shown = printable(path)
    const [one, other] = found.flatMap(at => (at.kind === 'picture' ? [at] : []))
    if (other) {
      const folders = places.map(({ mirror }) => printable(mirror.folder)).join(', ')
      throw new Problem(inWords(because('in_several_mirrors', { path: shown, folders })))
    }
    if (!one && found.some(({ kind }) => kind === 'folder'))
      throw new Problem(`${shown} is a folder. "albumd ls" lists its pictures`)
    if (!one?.picture || one.picture.state === 'gone_on_host') throw await notThere(config, places, path)
    if (one.picture.url === null) throw new Problem(`${shown}: The ${UNKNOWN}`, EXIT.left)
    if (json) printJson(JSON.parse(await onePicture(one.picture, 'json', null)))
    else process.stdout.write(await onePicture(one.picture, format, process.stdout))
    if (!one.picture.older) return EXIT.inSync
    sayAside('An older version: the picture as it is now is not on the host yet')
    return EXIT.left
  },
)

/** Why there is no address. Without the cause, for programs, where several pictures may be meant. */
async function notThere(config: Config, places: readonly unknown[], path: string): Promise<Problem> {
  const { explainPath, whyNotThere } = await import('../../daemon/report/explain.ts')
  const [explained] = places.length === 1 ? await explainPath(config, path, systemClock.wall()) : []
  const told = explained && whyNotThere(explained)
  const isIn =
    explained?.state === 'uncertain' ? 'was sent, and whether it arrived is not known' : 'is not on the host'
  const isWhy = told && explained?.state !== 'uncertain'
  return new Problem(
    `${printable(path)} ${isIn}${isWhy ? `: ${printable(told.reason)}` : `. "albumd why ${printable(shellWord(path))}" tells more`}`,
    EXIT.left,
    undefined,
    told ? { cause: told.code } : {},
  )
}
