import type { TellSpoken } from '../../sync/pass-events.ts'
import { eventInWords } from '../words/wording.ts'

export interface Progress {
  tell: TellSpoken
  /** Says one line beside the progress. */
  say(line: string): void
  end(): void
}

/** Plain lines, one an event: for logs, pipes and tests. */
export function lineProgress(out: NodeJS.WritableStream): Progress {
  const say = (line: string) => void out.write(`${line}\n`)
  return {
    tell(told) {
      const line = eventInWords(told)
      // There may be as many as there are pictures; their sum is told at the end.
      if (line && told.event !== 'picture_linked') say(line)
    },
    say,
    end() {},
  }
}

/** Nothing to look at: for `--json`. */
export const noProgress: Progress = { tell() {}, say() {}, end() {} }
