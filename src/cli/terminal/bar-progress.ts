import { eventInWords } from '../words/wording.ts'
import type { Progress } from './progress.ts'
import { transferBar } from './transfer-bar.ts'

/** A bar while pictures are on their way, and lines for what a person should know. */
export function barProgress(out: NodeJS.WriteStream): Progress {
  const { start, advance, say, end } = transferBar(out)
  return {
    say,
    tell(told) {
      const line = eventInWords(told)
      switch (told.event) {
        case 'uploads_started':
          start(told.pictures, told.quota_left)
          break
        case 'picture_uploaded':
          advance(told.size, 1)
          break
        case 'picture_unchanged':
          advance(told.size)
          break
        case 'picture_linked':
          advance(0)
          break
        case 'picture_failed':
        case 'picture_uncertain':
        case 'picture_waits':
          advance(0)
          if (line) say(line)
          break
        default:
          if (line) say(line)
      }
    },
    end,
  }
}
