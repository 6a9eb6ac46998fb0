import { carryOut, silently } from '../carry-out.ts'
import { EXIT } from '../exit-codes.ts'
import { type CommandWork, configOption, jsonOption, readConfig } from '../options.ts'
import { onInterrupts } from '../terminal/interrupts.ts'

interface ResumeArgs {
  config: string | undefined
  json: boolean
}

export function resumeCommand(exit: (code: number) => void): CommandWork<ResumeArgs> {
  return {
    builder: command =>
      command.options({ ...configOption, ...jsonOption }).example('$0 resume', 'Go on at once'),
    handler: async args => exit(await resume(args)),
  }
}

async function resume({ config: flag, json }: ResumeArgs): Promise<number> {
  const config = await readConfig(flag)
  const interrupts = onInterrupts()
  try {
    const { paused } = await carryOut(config, 'resume', {}, silently, interrupts)
    if (json) process.stdout.write(`${JSON.stringify({ paused: false, was_paused: paused !== null })}\n`)
    else process.stdout.write(paused ? 'the pause is over\n' : 'nothing to resume: albumd was not paused\n')
  } finally {
    interrupts.dispose()
  }
  return EXIT.inSync
}
