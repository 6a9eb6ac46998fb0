import type { VerifiedInWords } from '../../daemon/commands/sync.ts'
import { count } from '../../words/text.ts'
import { onePass } from '../one-pass.ts'
import { configCommand, flag, jsonOption } from '../options.ts'
import { sayAside } from '../terminal/output.ts'

export const adoptCommand = configCommand(
  options =>
    options
      .options({
        verify: flag(
          'Fetch what was linked by name and size, and compare its bytes; needs an upload of ours that the host acknowledged',
        ),
        ...jsonOption,
      })
      .example('$0 adopt', 'Link local pictures to images that are on the host already')
      .example('$0 adopt --verify', 'The same, and prove by their bytes that they are the same'),
  async (config, { verify, json }, onInterrupts) => {
    const { exitCode, result } = await onePass(config, 'adopt', { verify }, json, onInterrupts)
    if (result.verified) report(result.verified, result.addressesKnown)
    return exitCode
  },
)

/** albumd learns how the host builds delivery addresses from the host's answer to an upload. */
const AFTER_AN_UPLOAD = '; after the next picture was uploaded, run "albumd adopt --verify" again'

/** Writes to standard error, because standard output has the summary. */
function report({ equal, other, unknown, why }: VerifiedInWords, addressesKnown: boolean): void {
  const remedy = addressesKnown ? '' : AFTER_AN_UPLOAD
  sayAside(`${count(equal, 'linked image')} proved to be the same`)
  if (other > 0)
    sayAside(`${count(other, 'linked image')} proved to be another; the next sync uploads the pictures`)
  if (unknown > 0) sayAside(`${count(unknown, 'linked image')} could not be compared: ${why}${remedy}`)
}
