import { z } from 'zod'
import type { Command } from './command.ts'
import { type PassResult, passResult } from './pass-result.ts'

export const syncCommand: Command<{ pruneIgnored: boolean }, PassResult> = {
  request: z.strictObject({ pruneIgnored: z.boolean() }),
  needsHost: true,
  carryOut: (context, { pruneIgnored }) =>
    passResult(context, async () => (await context.pass({ pruneIgnored })).stopped),
}
