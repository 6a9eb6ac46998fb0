import type { VerifiedInWords } from '../../daemon/commands/sync.ts'
import { onePass } from '../one-pass.ts'
import { command, configOption, jsonOption, readConfig } from '../options.ts'
import { count, printable } from '../words/wording.ts'

export const adoptCommand = command(
  options =>
    options
      .options({
        ...configOption,
        verify: {
          type: 'boolean',
          default: false,
          describe:
            'Fetch what was linked by name and size, and compare its bytes; needs an upload of ours that the host acknowledged',
        },
        ...jsonOption,
      })
      .example('$0 adopt', 'Link local pictures to images that are on the host already')
      .example('$0 adopt --verify', 'The same, and prove by their bytes that they are the same'),
  async ({ verify, config: flag, json }, onInterrupts) => {
    const { exitCode, result } = await onePass(
      await readConfig(flag),
      'adopt',
      { verify },
      { json, onInterrupts, notCompared: verify ? ({ verified }) => verified?.unknown ?? 0 : undefined },
    )
    const { verified, addressesKnown } = result
    if (verified) report(verified, addressesKnown)
    return exitCode
  },
)

/** A delivery address is built only as the host's own answers have shown. */
const AFTER_AN_UPLOAD = '; after the next picture was uploaded, run "albumd adopt --verify" again'

/** On standard error: standard output has the summary. */
function report({ equal, other, unknown, why }: VerifiedInWords, addressesKnown: boolean): void {
  const remedy = addressesKnown ? '' : AFTER_AN_UPLOAD
  const lines = [
    `${count(equal, 'linked image')} proved to be the same`,
    ...(other > 0
      ? [`${count(other, 'linked image')} proved to be another; the next sync uploads the pictures`]
      : []),
    ...(unknown > 0
      ? [`${count(unknown, 'linked image')} could not be compared: ${printable(why!)}${remedy}`]
      : []),
  ]
  for (const line of lines) process.stderr.write(`albumd: ${line}\n`)
}
