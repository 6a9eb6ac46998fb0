import { expect, it } from 'vitest'
import type { CommandContext } from '../../../src/daemon/commands/command.ts'
import { retryCommand } from '../../../src/daemon/commands/sync.ts'
import { png } from '../../pictures.ts'
import { asked } from '../report/asked.ts'

it('retry of a picture that is not complete does not advise to ask the host', async () => {
  const at = await asked()
  const { bytes } = png(40, 30)
  at.write('half.png', bytes.subarray(0, bytes.length / 2))
  await at.pass()
  const { config, synced } = at
  const retried = retryCommand.carryOut({ config, synced } as CommandContext, { path: 'half.png' })
  await expect(retried).rejects.toThrow(
    /^half\.png has not failed, but waits \(File is not complete yet[^()]*\)$/,
  )
})
