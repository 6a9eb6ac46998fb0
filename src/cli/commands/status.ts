import { findConfig } from '../../config/config-file.ts'
import { configCommand, flag, jsonOption } from '../options.ts'
import { EXIT, sayStateProblem } from '../problem.ts'
import { statusInWords } from '../status-in-words.ts'
import { fitted } from '../terminal/fitted.ts'
import { SCHEMA, writeOut } from '../terminal/output.ts'

const WATCH_EVERY_MS = 1000

export const statusCommand = configCommand(
  options =>
    options
      .options({
        ...jsonOption,
        watch: flag('Show it again every second, until Ctrl-C'),
      })
      .example('$0 status -c albumd.yaml', 'How things stand'),
  async (config, args, onInterrupts) => {
    await sayStateProblem(config)
    const file = findConfig(process.env, process.cwd(), args.config)
    const { readStatus } = await import('../../daemon/report/status.ts')
    const { askPage } = await import('../../page/ask.ts')
    const { systemClock } = await import('../../protocol/clock.ts')
    const show = async () => {
      const now = await askPage(config)
      const status = readStatus(config, systemClock.wall(), now)
      const { page = null, picgo_server = null, uploading = [], rate = null } = now ?? {}
      const shown = { schema: SCHEMA, ...status, page, picgo_server, uploading, rate }
      return args.json
        ? `${JSON.stringify(shown)}\n`
        : fitted(statusInWords(status, config, file, now), process.stdout.columns)
    }
    if (!args.watch) process.stdout.write(await show())
    const interrupts = args.watch ? onInterrupts() : null
    const clear = process.stdout.isTTY && !args.json ? '\u001b[H\u001b[2J' : ''
    let before = clear
    while (interrupts && !interrupts.stop.aborted) {
      if (!(await writeOut(process.stdout, [before + (await show())]))) break
      before = clear || (args.json ? '' : '\n')
      await systemClock.sleep(WATCH_EVERY_MS, interrupts.stop)
    }
    return EXIT.inSync
  },
)
