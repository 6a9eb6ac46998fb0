import { z } from 'zod'
import { confirmedPattern } from '../../sync/listing/index.ts'
import type { Verified } from '../../sync/uploads/index.ts'
import { inWords } from '../../words/reasons.ts'
import type { Command } from './command.ts'
import { forgetFailures } from './retry.ts'
import { type PassResult, passResult } from './sync.ts'

/** `why`: in words, why the first of the `unknown` pictures could not be compared. */
export type VerifiedInWords = Omit<Verified, 'why'> & { why: string | null }

interface AdoptResult extends PassResult {
  /** Null: nothing was compared. */
  verified: VerifiedInWords | null
  /** Whether addresses can be built that the host has not told. */
  addressesKnown: boolean
}

export const adoptCommand: Command<{ verify: boolean }, AdoptResult> = {
  request: z.strictObject({ verify: z.boolean() }),
  needsHost: true,
  async carryOut(context, { verify }) {
    const { config, synced, interruption } = context
    const engine = context.engine()
    // A failure that was ambiguous may be clear by now.
    await forgetFailures(config, synced)
    let verified: VerifiedInWords | null = null
    // Every picture may be linked, so comparing them may take long.
    const giveWay = async () => {
      if (context.othersWait()) await context.giveWay()
    }
    const result = await passResult(context, async () => {
      const { stopped } = await engine.adopt(interruption)
      if (verify) {
        const { why, ...counts } = await engine.verifyLinks(interruption.cut, giveWay)
        verified = { ...counts, why: why && inWords(why) }
      }
      return stopped
    })
    const addressesKnown = synced.meta.get('cdn_base') !== null || confirmedPattern(synced) !== null
    return { ...result, verified, addressesKnown }
  },
}
