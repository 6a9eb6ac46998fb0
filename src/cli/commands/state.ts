import { resolve } from 'node:path'
import { realPathOf } from '../../config/paths.ts'
import type { MovedMirror } from '../../daemon/commands/move-mirror.ts'
import { count, inDigits, printable, shellWord, sizeInWords } from '../../words/text.ts'
import { configCommand, jsonOption } from '../options.ts'
import { EXIT } from '../problem.ts'
import { printJson, printLine, sayAside } from '../terminal/output.ts'

export const backupCommand = configCommand(
  options =>
    options
      .positional('file', { type: 'string', demandOption: true, describe: 'An older backup is replaced' })
      .options(jsonOption)
      .example('$0 backup /mnt/usb/albumd.db', 'On another disk')
      .epilogue(
        'When the state is lost, stop albumd, copy the backup to albumd.db in state_dir, and start albumd. Pictures and key are not in it.',
      ),
  async (config, { file, json }) => {
    const { backUp } = await import('../../daemon/commands/backup.ts')
    const path = resolve(file)
    const bytes = backUp(config, path)
    if (json) printJson({ file: path, bytes })
    else printLine(`${printable(path)}: ${sizeInWords(bytes)}`)
    return EXIT.inSync
  },
)

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
        'Stop albumd, move the folder with the times of its files, write the new one into the config, and run this.',
      ),
  async (config, { old, new: given, json }, onInterrupts) => {
    const { moveMirror } = await import('../../daemon/commands/move-mirror.ts')
    // A link may lie at the old place, so the path counts as it was typed too.
    const from = [resolve(old), realPathOf(resolve(old))]
    const waiting = { stop: onInterrupts().stop, say: sayAside }
    const moved = await moveMirror(config, from, realPathOf(resolve(given)), waiting)
    const { pictures, missing } = moved
    if (json) printJson(moved)
    else {
      printLine(
        `${printable(moved.from)} → ${printable(moved.to)}: ${count(pictures, 'picture')} moved in the records; "albumd sync" or "albumd run" goes on there`,
      )
      if (moved.guarded || missing > 0) printLine(lackInWords(moved))
    }
    return EXIT.inSync
  },
)

function lackInWords({ to, missing, first_missing, guarded }: MovedMirror): string {
  if (missing === 0)
    return 'A picture there is older than the one that albumd knows, so the mirror is guarded. "albumd status" says what to do'
  const first = printable(first_missing ?? '')
  const [lack, they, are, images] =
    missing === 1
      ? [`${first} is`, 'it', 'is', 'its image']
      : [`${first} and ${inDigits(missing - 1)} more are`, 'they', 'are', 'their images']
  if (!guarded)
    return `${lack} not there, and ${missing === 1 ? 'counts' : 'count'} as deleted; "albumd sync --dry-run" names what goes`
  const trust = `"albumd trust ${shellWord(printable(to))}" deletes ${images}`
  return `${lack} not there, so the mirror is guarded until ${they} ${are}; only if ${they} ${are} gone for good, ${trust}`
}
