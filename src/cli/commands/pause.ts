import type { Pause } from '../../daemon/state/pause.ts'
import { carryOut, silently } from '../carry-out.ts'
import { EXIT } from '../exit-codes.ts'
import { command, configOption, jsonOption, readConfig } from '../options.ts'
import { Problem } from '../words/problem.ts'

/** A longer pause is refused, because it was probably mistyped. Without --for a pause lasts until `resume`. */
const LONGEST_MS = 365 * 86_400_000

export const pauseCommand = command(
  options =>
    options
      .options({
        ...configOption,
        for: {
          type: 'string',
          requiresArg: true,
          describe: 'For how long: 90s, 10m, 2h, 1d; left out, until "albumd resume"',
        },
        ...jsonOption,
      })
      .example('$0 pause --for 2h', 'Leave the line to others; it goes on by itself')
      .epilogue(
        'Pictures that are on their way are finished. albumd goes on to look: what has changed meanwhile is done ' +
          'afterwards. sync, retry and adopt do nothing while it lasts but say so, with exit code 3.',
      ),
  async ({ for: given, config: flag, json }, onInterrupts) => {
    const forMs = given === undefined ? null : await durationIn(given)
    const config = await readConfig(flag)
    const interrupts = onInterrupts()
    const paused = await carryOut(config, 'pause', { forMs }, silently, interrupts)
    const { pauseInWords } = await import('../../daemon/state/pause.ts')
    if (json) process.stdout.write(`${JSON.stringify({ paused: true, ...pauseInJson(paused) })}\n`)
    else process.stdout.write(`${pauseInWords(paused)}\n`)
    return EXIT.inSync
  },
)

/** Milliseconds. */
async function durationIn(given: string): Promise<number> {
  const { parseDuration } = await import('../../config/values.ts')
  const ms = parseDuration(given)
  if (ms === null || ms < 1 || ms > LONGEST_MS)
    throw new Problem(
      EXIT.usage,
      `--for ${given}: must be a duration such as 90s, 10m or 1h30m, up to 365d. See albumd pause --help.`,
    )
  return ms
}

/** `until`: ISO 8601, or null until `resume`. */
export function pauseInJson({ until }: Pause): { until: string | null } {
  return { until: until === null ? null : new Date(until).toISOString() }
}

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
