import { printable } from '../../words/text.ts'
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
    const shown = printable(file)
    await sayStateProblem(config)
    const { reading } = await import('../../daemon/state/state.ts')
    const { recordedAt } = await import('../../daemon/report/mirrored-pictures.ts')
    const locate = await locator(config)
    const found = await reading(config, async synced =>
      locate(synced, file).map(place => recordedAt(synced, place)),
    )
    const [one, other] = found.flatMap(at => (at.kind === 'picture' ? [at] : []))
    if (other) throw new Problem(`${shown} is in more than one mirror. Give its whole path`)
    if (!one && found.some(({ kind }) => kind === 'folder'))
      throw new Problem(`${shown} is a folder. "albumd ls" lists its pictures`)
    if (one?.gone) {
      const { movedTo } = one.gone
      throw new Problem(
        movedTo === null
          ? `${shown} is gone from the disk, and its address ends. "albumd why PATH" tells when`
          : `${shown} was moved to ${printable(movedTo)}, and its old address ends. Ask for the new one`,
        EXIT.left,
      )
    }
    if (!one?.picture)
      throw new Problem(
        `${shown} is not on the host. "albumd why PATH" tells why, and what happens next`,
        EXIT.left,
      )
    if (one.picture.url === null) throw new Problem(`${shown}: The ${UNKNOWN}`, EXIT.left)
    if (!json) process.stdout.write(await onePicture(one.picture, format, process.stdout))
    if (copy) {
      const { copyToClipboard } = await import('../terminal/clipboard.ts')
      const problem = copyToClipboard((await onePicture(one.picture, format, null)).trimEnd())
      if (problem !== null) throw new Problem(`Not copied: ${problem}`, EXIT.left, 'NOT_COPIED')
    }
    // A program reads one object: the picture, or why it was not copied.
    if (json) printJson(JSON.parse(await onePicture(one.picture, 'json', null)))
    if (!one.picture.older) return EXIT.inSync
    sayAside('An older version: the picture as it is now is not on the host yet')
    return EXIT.left
  },
)
