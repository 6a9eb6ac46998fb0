import { printable } from '../../words/text.ts'
import { configCommand, flag, jsonOption, pathArgument } from '../options.ts'
import { EXIT, Problem, sayStateProblem } from '../problem.ts'
import { FORMATS, onePicture } from '../terminal/listing-formats.ts'
import { printJson, sayAside } from '../terminal/output.ts'
import { inNoMirror, mirrorsOf, nothingKnown, UNKNOWN } from './ls.ts'

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
          'xsel or pbcopy. The exit code is 3 if the picture is not on the host, or only in an older version.',
      ),
  async (config, { file, format, json, copy }) => {
    const given = pathArgument(file)!
    const shown = printable(file)
    await sayStateProblem(config)
    const { reading } = await import('../../daemon/state/state.ts')
    const { locationsOf, recordedAt } = await import('../../daemon/report/mirrored-pictures.ts')
    const found = await reading(config, async synced => {
      const places = locationsOf(config, synced, given)
      if (places.length === 0) throw inNoMirror(file, config)
      return places.map(place => recordedAt(synced, place))
    })
    const [one, other] = found.flatMap(at => (at.kind === 'picture' ? [at] : []))
    if (other)
      throw new Problem(`${shown} is in more than one mirror; give its whole path (${mirrorsOf(config)})`)
    if (!one && found.some(({ kind }) => kind === 'folder'))
      throw new Problem(`${shown} is a folder; "albumd ls" lists its pictures`)
    if (!one && found.every(({ kind }) => kind !== 'unseen')) throw nothingKnown(file)
    if (!one?.picture)
      throw new Problem(
        `${shown} is not on the host; "albumd why" tells why, and what happens next`,
        EXIT.left,
      )
    if (one.picture.url === null) throw new Problem(`${shown}: its ${UNKNOWN}`, EXIT.left)
    if (json) printJson(JSON.parse(await onePicture(one.picture, 'json', null)))
    else process.stdout.write(await onePicture(one.picture, format, process.stdout))
    if (copy) {
      const { copyToClipboard } = await import('../terminal/clipboard.ts')
      const problem = copyToClipboard((await onePicture(one.picture, format, null)).trimEnd())
      if (problem !== null) throw new Problem(`not copied: ${problem}`)
    }
    if (!one.picture.older) return EXIT.inSync
    sayAside('this is an older version; the picture as it is now is not on the host yet')
    return EXIT.left
  },
)
