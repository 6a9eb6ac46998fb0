import { resolve } from 'node:path'
import { realPathOf } from '../../config/paths.ts'
import { count, printable } from '../../words/text.ts'
import { configCommand, jsonOption } from '../options.ts'
import { EXIT } from '../problem.ts'
import { printJson, printLine, sayAside } from '../terminal/output.ts'

export const moveMirrorCommand = configCommand(
  options =>
    options
      .positional('old', { type: 'string', demandOption: true, describe: 'The folder that albumd knows' })
      .positional('new', {
        type: 'string',
        demandOption: true,
        describe: 'The folder that the config names now',
      })
      .options(jsonOption)
      .example('$0 move-mirror /srv/photos /data/photos', 'The folder was renamed, or is on another disk')
      .epilogue(
        'Stop albumd, move the folder, write the new one into the config, and say this. Most pictures must be there with ' +
          'the size and time that albumd knows. Nothing is sent again.',
      ),
  async (config, { old, new: given, json }) => {
    const { moveMirror } = await import('../../daemon/commands/move-mirror.ts')
    // A link may lie at the old place, so the path counts as it is typed, too.
    const from = [resolve(old), realPathOf(resolve(old))]
    const moved = moveMirror(config, from, realPathOf(resolve(given)), sayAside)
    if (json) printJson(moved)
    else
      printLine(
        `${printable(moved.from)} → ${printable(moved.to)}: ${count(moved.pictures, 'picture')} moved in the records; "albumd sync" or "albumd run" goes on there`,
      )
    return EXIT.inSync
  },
)
