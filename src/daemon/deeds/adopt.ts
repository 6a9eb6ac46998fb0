import { z } from 'zod'
import { confirmedPattern } from '../../sync/listing/compare-bytes.ts'
import type { Verified } from '../../sync/uploads/verify-links.ts'
import { forgetFailures } from '../loop/retry.ts'
import type { Deed } from './deed.ts'
import { type PassResult, passResult } from './pass-result.ts'

interface AdoptResult extends PassResult {
  /** Null where nothing was to be compared. */
  verified: Verified | null
  /** Whether a delivery address can be built: only as the host's own answers have shown. */
  addressesKnown: boolean
}

export const adoptDeed: Deed<{ verify: boolean }, AdoptResult> = {
  request: z.strictObject({ verify: z.boolean() }),
  needsHost: true,
  async carryOut(means, { verify }) {
    const { config, synced, interruption } = means
    const engine = means.engine()
    // What was ambiguous may be clear by now.
    await forgetFailures(config, synced)
    let verified: Verified | null = null
    // There may be as many as there are pictures.
    const giveWay = async () => {
      if (means.othersWait()) await means.giveWay()
    }
    const result = await passResult(means, async () => {
      const { stopped } = await engine.adopt(interruption)
      if (verify) verified = await engine.verifyLinks(interruption.cut, giveWay)
      return stopped
    })
    return { ...result, verified, addressesKnown: confirmedPattern({ synced }) !== null }
  },
}
