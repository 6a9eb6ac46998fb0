import type { TellSpoken } from '../../sync/pass-events.ts'
import { eventInWords } from '../words/wording.ts'

export interface Progress {
  tell: TellSpoken
  /** Writes a line beside the progress. */
  say(line: string): void
  end(): void
}

/** Plain lines, one for each event, for pipes and logs. */
export function lineProgress(out: NodeJS.WritableStream): Progress {
  const say = (line: string) => void out.write(`${line}\n`)
  return {
    tell(told) {
      const line = eventInWords(told)
      // Linked pictures may be very many, so only their number is told at the end.
      if (line && told.event !== 'picture_linked') say(line)
    },
    say,
    end() {},
  }
}

/** Shows nothing, for `--json`. */
export const noProgress: Progress = { tell() {}, say() {}, end() {} }

/** A bar on a terminal, lines elsewhere. The code that draws the bar is loaded only on a terminal. */
export async function progressOn(out: NodeJS.WriteStream): Promise<Progress> {
  if (!out.isTTY) return lineProgress(out)
  const { barProgress } = await import('./transfer-bar.ts')
  return barProgress(out)
}
