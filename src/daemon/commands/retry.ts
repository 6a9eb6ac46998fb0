import { z } from 'zod'
import { forgetFailures, hasFailures, resend as sendAgain } from '../loop/retry.ts'
import { type Command, NotPossible } from './command.ts'
import { type PassResult, passResult } from './pass-result.ts'

/** `path` and `resend`: absolute, or below a mirror's folder. */
interface RetryRequest {
  path?: string | undefined
  resend?: string | undefined
}

export const retryCommand: Command<RetryRequest, PassResult> = {
  request: z.strictObject({ path: z.string().optional(), resend: z.string().optional() }),
  needsHost: true,
  async carryOut(context, { path, resend }) {
    const { config, synced } = context
    if (path !== undefined && !hasFailures(config, synced, path))
      throw new NotPossible(`retry ${path}: nothing failed at or below it; "albumd status" lists what did`)
    if (path !== undefined || resend === undefined) {
      await forgetFailures(config, synced, path)
      const { host } = context.engine().parts
      for (const { endpoint } of host.blocks()) host.unblock(endpoint)
    }
    if (resend !== undefined) {
      const files = await sendAgain(config, synced, resend, Date.now())
      if (files.length === 0)
        throw new NotPossible(
          `--resend ${resend}: no upload there is in doubt; "albumd status" lists those that are.`,
        )
    }
    return passResult(context, async () => (await context.pass()).stopped)
  },
}
