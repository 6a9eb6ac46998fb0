import { carryOut, silently } from '../carry-out.ts'
import { EXIT } from '../exit-codes.ts'
import { command, configOption, jsonOption, readConfig } from '../options.ts'

export const resumeCommand = command(
  options => options.options({ ...configOption, ...jsonOption }).example('$0 resume', 'Go on at once'),
  async ({ config: flag, json }, onInterrupts) => {
    const config = await readConfig(flag)
    const interrupts = onInterrupts()
    const { paused } = await carryOut(config, 'resume', {}, silently, interrupts)
    if (json) process.stdout.write(`${JSON.stringify({ paused: false, was_paused: paused !== null })}\n`)
    else process.stdout.write(paused ? 'the pause is over\n' : 'nothing to resume: albumd was not paused\n')
    return EXIT.inSync
  },
)
