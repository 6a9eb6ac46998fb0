import { resolve } from 'node:path'
import { printable, sizeInWords } from '../../words/text.ts'
import { configCommand, jsonOption } from '../options.ts'
import { EXIT } from '../problem.ts'
import { printJson, printLine } from '../terminal/output.ts'

export const backupCommand = configCommand(
  options =>
    options
      .positional('file', { type: 'string', demandOption: true, describe: 'An older backup is replaced' })
      .options(jsonOption)
      .example('$0 backup /mnt/usb/albumd.db', 'On another disk')
      .epilogue(
        'The state knows which image on the host is which picture. When it is lost, stop albumd, copy the backup to ' +
          'albumd.db in the state folder, and start albumd: it compares each album with the host before it sends anything ' +
          'there. The pictures and the API key are not in it. A timer or cron makes a backup each day.',
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
