import { walkGif } from '../gif.ts'
import type { Rules } from './rules.ts'

/** An application's extension has its name behind three bytes. */
const NAME = 3
const ICC = 'ICCRGBG1012'

export const gifRules: Rules = {
  walk: walkGif,
  end: Buffer.of(0x3b),
  async take({ role, from }, reader) {
    return role !== 'metadata' || (await reader.text(from + NAME, ICC.length)) === ICC
  },
}
