import { z } from 'zod'
import { forgetFailures, hasFailures, resend as sendAgain } from '../loop/retry.ts'
import { type Deed, NotPossible } from './deed.ts'
import { type PassResult, passResult } from './pass-result.ts'

/** `path` and `resend`: absolute, or below a mirror's folder. */
interface RetryRequest {
  path?: string | undefined
  resend?: string | undefined
}

export const retryDeed: Deed<RetryRequest, PassResult> = {
  request: z.strictObject({ path: z.string().optional(), resend: z.string().optional() }),
  needsHost: true,
  async carryOut(means, { path, resend }) {
    const { config, synced } = means
    if (path !== undefined && !hasFailures(config, synced, path))
      throw new NotPossible(`retry ${path}: nothing failed at or below it; "albumd status" lists what did`)
    if (path !== undefined || resend === undefined) {
      await forgetFailures(config, synced, path)
      const { host } = means.engine().parts
      for (const { endpoint } of host.blocks()) host.unblock(endpoint)
    }
    if (resend !== undefined) {
      const files = await sendAgain(config, synced, resend, Date.now())
      if (files.length === 0)
        throw new NotPossible(
          `--resend ${resend}: no upload there is in doubt; "albumd status" lists those that are.`,
        )
    }
    return passResult(means, async () => (await means.pass()).stopped)
  },
}
