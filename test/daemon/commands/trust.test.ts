import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CommandContext } from '../../../src/daemon/commands/command.ts'
import { trustCommand } from '../../../src/daemon/commands/trust.ts'
import { keptAhead } from '../../../src/records/escrow.ts'
import { fileAt } from '../../../src/sync/tree-path.ts'
import { png } from '../../pictures.ts'
import { workshopWith } from '../../sync/workshop.ts'

it('trust does not count a picture among those whose images go when its image is kept for good', async () => {
  const { pictures, mirror, synced } = await workshopWith({
    'kept.png': png(3, 2).bytes,
    'goes.png': png(3, 3).bytes,
  })
  const kept = fileAt(synced, 1, 'kept.png')!
  await synced.commit(tx => keptAhead(tx, { ...kept, image: kept.image! }, 0))
  for (const name of readdirSync(pictures)) rmSync(join(pictures, name))
  const config = { mirrors: [{ ...mirror, folder: pictures }] }
  const context = { config, synced } as unknown as CommandContext
  expect(await trustCommand.carryOut(context, { folder: pictures })).toMatchObject({
    trusted: true,
    missing: 1,
    paths: ['goes.png'],
  })
})
