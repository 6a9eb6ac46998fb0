import { DAY_MS } from '../../protocol/clock.ts'
import { isoTime } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import { configCommand, jsonOption, valued } from '../options.ts'
import { EXIT, Problem } from '../problem.ts'
import { printJson, printLine } from '../terminal/output.ts'

/** A longer pause is refused, because it was probably mistyped. Without --for a pause lasts until `resume`. */
const LONGEST_MS = 365 * DAY_MS

export const pauseCommand = configCommand(
  options =>
    options
      .options({
        for: valued('For how long: 90s, 10m, 2h, 1d; else until "albumd resume"'),
        ...jsonOption,
      })
      .example('$0 pause --for 2h', 'Leave the connection to others for two hours')
      .epilogue(
        'Uploads under way are finished. Meanwhile sync, retry and adopt only say that it is paused, with exit code 3.',
      ),
  async (config, { for: given, json }, onInterrupts) => {
    const forMs = given === undefined ? null : await durationIn(given)
    const { result: pause } = await carryOut(config, 'pause', { forMs }, onInterrupts())
    const { pauseInWords } = await import('../../daemon/state/pause.ts')
    if (json) printJson({ paused: true, until: isoTime(pause.until) })
    else printLine(pauseInWords(pause))
    return EXIT.inSync
  },
)

async function durationIn(given: string): Promise<number> {
  const { parseDuration } = await import('../../config/values.ts')
  const ms = parseDuration(given)
  if (ms === null || ms < 1 || ms > LONGEST_MS)
    throw new Problem(`--for ${given} is no duration. Say 90s, 10m or 1h30m, up to 365d`)
  return ms
}

export const resumeCommand = configCommand(
  options => options.options(jsonOption).example('$0 resume', 'Go on at once'),
  async (config, { json }, onInterrupts) => {
    const { result } = await carryOut(config, 'resume', {}, onInterrupts())
    const was_paused = result.paused !== null
    if (json) printJson({ paused: false, was_paused })
    else printLine(was_paused ? 'the pause is over' : 'nothing to resume: albumd was not paused')
    return EXIT.inSync
  },
)
