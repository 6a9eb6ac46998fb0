import { existsSync } from 'node:fs'
import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../sync/clock.ts'
import { StateError } from '../../synced/state-error.ts'
import { reading } from '../mirrored/reading.ts'
import {
  isOtherKey,
  judgeAccount,
  OTHER_ACCOUNT,
  OTHER_ACCOUNT_REMEDY,
  OTHER_ACCOUNT_SAID,
} from '../state/own-account.ts'
import { stateFiles } from '../state/state.ts'
import { type Finding, fail, pass, warn } from './finding.ts'
import type { HostQuestions } from './host-questions.ts'

/**
 * Whether a key that the records do not know belongs to their account: what albumd would look at before it does
 * anything there. Nothing to say of one that they know. It records nothing: albumd itself is to look again.
 */
export async function checkAccount(
  config: Config,
  apiKey: string,
  questions: Pick<HostQuestions, 'list'>,
  signal: AbortSignal,
): Promise<Finding[]> {
  if (!existsSync(stateFiles(config.state_dir).database)) return []
  const gapMs = 1000 / config.host.requests_per_second.list
  try {
    return await reading(config, async ({ synced }) => {
      if (!isOtherKey(synced, apiKey)) return []
      const list: HostQuestions['list'] = async (album, page, until) => {
        // There is no gate, and §8's limit is the account's.
        await systemClock.sleep(gapMs, until)
        return questions.list(album, page, until)
      }
      const doubt = await judgeAccount({ list }, synced, apiKey, signal)
      if (signal.aborted) return []
      if (doubt === null) return [pass('key', 'it was changed, and its account is taken for the same one')]
      if (doubt.code === OTHER_ACCOUNT)
        return [{ ...fail('key', OTHER_ACCOUNT_SAID, OTHER_ACCOUNT_REMEDY), code: OTHER_ACCOUNT }]
      const said = `it was changed, and whether its account is the same one could not be seen: ${doubt.message} (${doubt.code})`
      return [
        {
          ...warn('key', said, 'ask the doctor again; albumd does nothing there before it has seen it'),
          code: doubt.code,
        },
      ]
    })
  } catch (error) {
    // What is wrong with the state is another check's to tell.
    if (error instanceof StateError) return []
    throw error
  }
}
