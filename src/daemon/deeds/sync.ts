import { z } from 'zod'
import type { Deed } from './deed.ts'
import { type PassResult, passResult } from './pass-result.ts'

export const syncDeed: Deed<{ pruneIgnored: boolean }, PassResult> = {
  request: z.strictObject({ pruneIgnored: z.boolean() }),
  needsHost: true,
  carryOut: (means, { pruneIgnored }) =>
    passResult(means, async () => (await means.pass({ pruneIgnored })).stopped),
}
