import type { Config } from '../../config/schema.ts'
import { printable, shellWord } from '../../words/text.ts'
import { configCommand, flag, jsonOption, locator } from '../options.ts'
import { EXIT, Problem, sayStateProblem } from '../problem.ts'
import { FORMATS, onePicture } from '../terminal/listing-formats.ts'
import { printJson, sayAside } from '../terminal/output.ts'
import { UNKNOWN } from './ls.ts'

export const urlCommand = configCommand(
  options =>
    options
      .positional('file', {
        type: 'string',
        demandOption: true,
        describe: "Absolute, or below a mirror's folder",
      })
      .options({
        format: { choices: FORMATS, default: 'url' as const, describe: 'How it is shown' },
        ...jsonOption,
        copy: flag('Put it into the clipboard as well'),
      })
      .example('$0 url Holiday/a.jpg', 'One address, and nothing else')
      .example('$0 url Holiday/a.jpg --format markdown --copy', 'Ready to be pasted into a page')
      .epilogue(
        'Whoever knows the address can see the picture, with all its metadata. --copy uses wl-copy, xclip, ' +
          'xsel or pbcopy. The exit code is 3 if the picture is not on the host, or only in an older version, or could not be copied.',
      ),
  async (config, { file, format, json, copy }) => {
    await sayStateProblem(config)
    const { reading } = await import('../../daemon/state/state.ts')
    const { recordedAt } = await import('../../daemon/report/mirrored-pictures.ts')
    const locate = await locator(config)
    const { places, found } = await reading(config, async synced => {
      const places = locate(synced, file)
      return { places, found: places.map(place => recordedAt(synced, place)) }
    })
    // A place has the bytes of a name that is not UTF-8 in a form that can be shown and typed.
    const path = places.length === 1 ? places[0]!.path || file : file
    const shown = printable(path)
    const why = `"albumd why ${printable(shellWord(path))}"`
    const [one, other] = found.flatMap(at => (at.kind === 'picture' ? [at] : []))
    if (other) throw new Problem(`${shown} is in more than one mirror. Give its whole path`)
    if (!one && found.some(({ kind }) => kind === 'folder'))
      throw new Problem(`${shown} is a folder. "albumd ls" lists its pictures`)
    if (one?.gone) {
      const { movedTo } = one.gone
      throw new Problem(
        movedTo === null
          ? `${shown} is gone from the disk, and its address ends. ${why} tells when`
          : `${shown} was moved to ${printable(movedTo)}, and its old address ends. Ask for the new one`,
        EXIT.left,
      )
    }
    if (!one?.picture || one.picture.state === 'gone_on_host') {
      const message = `${shown} is not on the host. ${why} tells why, and what happens next`
      throw new Problem(message, EXIT.left, undefined, await causeAt(config, places, path))
    }
    if (one.picture.url === null) throw new Problem(`${shown}: The ${UNKNOWN}`, EXIT.left)
    if (!json) process.stdout.write(await onePicture(one.picture, format, process.stdout))
    const problem = copy
      ? (await import('../terminal/clipboard.ts')).copyToClipboard(
          (await onePicture(one.picture, format, null)).trimEnd(),
        )
      : null
    const message = `Not copied: ${problem}`
    // A program reads one object: the picture, and why it was not copied.
    if (json)
      printJson({
        ...JSON.parse(await onePicture(one.picture, 'json', null)),
        ...(problem !== null && { error: { code: 'NOT_COPIED', message } }),
      })
    if (problem !== null) sayAside(message)
    if (one.picture.older) sayAside('An older version: the picture as it is now is not on the host yet')
    return problem === null && !one.picture.older ? EXIT.inSync : EXIT.left
  },
)

/** What keeps the picture from the host, for a program. */
async function causeAt(
  config: Config,
  places: readonly unknown[],
  path: string,
): Promise<{ cause?: string }> {
  if (places.length !== 1) return {}
  const { explainPath, whyNotThere } = await import('../../daemon/report/explain.ts')
  const [explained] = await explainPath(config, path, Date.now())
  return explained ? { cause: whyNotThere(explained).code } : {}
}
